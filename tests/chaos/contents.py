"""Files and pages in which every paragraph says whose it is: application, file, version, place."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from random import Random
from typing import Final, Literal

from tests.builders.make_archives import zip_of
from tests.builders.make_files import html, pdf

Kind = Literal["f", "s", "w"]
"""A file, a page of the local site, a page of a site that Firecrawl crawls."""

_MARK: Final = re.compile(r"zq(\d+)([fsw])(\d+)v(\d+)p(\d+)")
_WORDS: Final = (
    *("harbour", "lantern", "copper", "meadow", "orbit", "velvet", "glacier", "thistle"),
    *("anchor", "pepper", "cinder", "marble", "willow", "engine", "feather", "garnet"),
)


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """One paragraph. Its word is in no other paragraph, so a keyword search finds only it."""

    application: int
    kind: Kind
    number: int
    version: int
    part: int

    @property
    def word(self) -> str:
        return f"zq{self.application}{self.kind}{self.number}v{self.version}p{self.part}"


def marks(text: str) -> list[Mark]:
    """Those of all paragraphs in a text, in order."""
    return [
        Mark(int(application), "f" if kind == "f" else "s" if kind == "s" else "w", *map(int, rest))
        for application, kind, *rest in _MARK.findall(text)
    ]


def paragraph(mark: Mark) -> str:
    rng = Random(mark.word)
    words = " ".join(rng.choice(_WORDS) for _ in range(30))
    return f"Record {mark.word} tells of the {words}."


def some_words(rng: Random) -> str:
    """A question that fits any paragraph of any application."""
    return " ".join(rng.sample(_WORDS, 4))


def is_broken(number: int) -> bool:
    """Whether the file of this number can never be read."""
    return number % 16 == 15


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    path: str
    content: bytes
    marks: tuple[Mark, ...]
    """Of its paragraphs; none if it is broken."""


def path_of(application: int, number: int) -> str:
    return f"application-{application}/file-{number}.{_suffix(number)}"


def make_file(application: int, number: int, version: int) -> File:
    """The type of a file follows from its number, its length from the version too."""
    rng = Random(f"{application}/{number}/{version}")
    path = path_of(application, number)
    if is_broken(number):
        content = f"%PDF-1.7\n{application} {number} {version} and no more".encode()
        return File(path=path, content=content, marks=())
    length = rng.choice((1, 2, 3, 12))
    found = tuple(Mark(application, "f", number, version, part) for part in range(length))
    return File(path=path, content=_bytes(path, [paragraph(mark) for mark in found]), marks=found)


def _suffix(number: int) -> str:
    return "pdf" if is_broken(number) else ("txt", "md", "html", "txt", "pdf", "zip")[number % 6]


def _bytes(path: str, paragraphs: list[str]) -> bytes:
    match path.rpartition(".")[2]:
        case "html":
            return html(_tagged(paragraphs))
        case "pdf":
            return pdf(paragraphs)
        case "zip":
            return zip_of({f"member-{place}.txt": text for place, text in enumerate(paragraphs)})
    return "\n\n".join(paragraphs).encode()


def _tagged(paragraphs: Iterable[str]) -> str:
    return "".join(f"<p>{text}</p>" for text in paragraphs)
