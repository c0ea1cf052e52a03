"""What the chunks of a document are about: words that a passage itself often lacks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self
from urllib.parse import unquote

import regex

from ingest.analysis.words import split
from ingest.model import Document

_LONGEST: Final = 200
"""Characters of a context line, without which a passage may lose more than it gains."""
_READ: Final = 500
"""Characters of a title or path that count."""
_SCHEME: Final = regex.compile(r"^[a-z][a-z0-9+.-]*://")
_HOST: Final = regex.compile(r"^[a-z][a-z0-9+.-]*://[^/]*")
_WORD: Final = regex.compile(r"(?<!\p{L})\p{L}{3,}(?!\p{L}|\p{N})|\p{Lo}{2}")
_LETTER: Final = regex.compile(r"\p{L}")
_LEAST_LETTERS: Final = 0.6
_SUFFIX: Final = regex.compile(r"\.\w{1,8}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What all chunks of a document are about."""

    title: str | None
    uri: str
    """Path or URL."""
    name: str | None = None
    """The name of a file's source, which users change; None: of no file."""
    author: str | None = None
    """Who wrote or sent it."""
    language: str | None

    @classmethod
    def of(cls, document: Document, uri: str, *, name: str | None = None) -> Self:
        author = author_of(document.metadata)
        return cls(
            title=document.title, uri=uri, name=name, author=author, language=document.language
        )


def author_of(metadata: Mapping[str, Any]) -> str | None:
    """Also the sender of a message, as the statements with `author` read it."""
    stated = metadata.get("author") or metadata.get("from")
    return None if stated is None else str(stated)[:_READ]


def title_and_path(subject: Subject) -> str:
    """The title, the parts of the path with other words, and the author: what the keyword index
    has. A chunk in the middle of a long message does not name its sender."""
    title = (subject.title or "")[:_READ]
    known = {word.lower() for word in split(title).in_order}
    parts = [*_path(subject, _SCHEME).split("/"), (subject.name or "")[:_READ]]
    parts.append((subject.author or "")[:_READ])
    other = dict.fromkeys(part for part in parts if not _has_only(part, known))
    return " ".join([title, *other])


def context_line(subject: Subject, headings: tuple[str, ...]) -> str:
    """What is embedded in front of a chunk: title and headings, or the path without a title."""
    # The host is in front of all pages of a site.
    path = _path(subject, _HOST)
    title = subject.title or _name(subject) or " / ".join(_telling_parts(path))
    parts = [title, *(heading for heading in headings if heading != subject.title)]
    line = " > ".join(part for part in parts if part)
    return line if len(line) <= _LONGEST else f"{line[:60]} … {line[-_LONGEST + 63 :]}"


def _path(subject: Subject, without: "regex.Pattern[str]") -> str:
    return unquote(without.sub("", subject.uri)).split("?", 1)[0][:_READ]


def _name(subject: Subject) -> str:
    """The name that a user gave the file; empty if it is still that of its path."""
    is_own = subject.name is not None and not subject.uri.endswith(subject.name)
    return " ".join(_telling_parts(subject.name or "")) if is_own else ""


def _telling_parts(path: str) -> list[str]:
    """The parts with words in them, unlike `scan0012`."""
    parts = _SUFFIX.sub("", path).split("/")
    return [regex.sub(r"[_-]+", " ", part) for part in parts if _is_telling(part)]


def _is_telling(part: str) -> bool:
    letters = len(_LETTER.findall(part))
    return letters >= _LEAST_LETTERS * len(part) and _WORD.search(part) is not None


def _has_only(text: str, known: set[str]) -> bool:
    return known.issuperset(split(text).in_order)
