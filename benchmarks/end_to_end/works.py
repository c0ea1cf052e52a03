"""The work: folders of files to ingest, the same for all contestants."""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from pydoc_data.topics import topics
from typing import Literal

from pypdfium2 import PdfDocument, PdfiumError

from benchmarks.core.texts import text_files

Kind = Literal["text", "pdf", "html"]

MARK = re.compile(r"Document \d+ of round \d+")

_PDF_PAGES = 50
_HTML_BYTES = 96 * 1024
_LONG_PARAGRAPH = 200
_PARAGRAPH = re.compile(
    r"(?P<begin><p(?:\s[^>]*)?>)(?P<text>[^<]*(?:<(?!/p>)[^<]*)*)(?P<end></p>)", re.IGNORECASE
)
_TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    kind: Kind
    title: str
    folder: Path
    marks: frozenset[str]
    """The markers that `MARK` finds in the files; each file has a different one."""
    note: str

    @property
    def files(self) -> list[Path]:
        return sorted(self.folder.iterdir())

    def named_files(self) -> list[tuple[str, bytes]]:
        """Names and contents for an upload; reads the files now."""
        return [(path.name, path.read_bytes()) for path in self.files]


def text_work(folder: Path, *, count: int) -> Work:
    files = [
        (f"{number:05}.md", content)
        for number, (_, content) in enumerate(text_files(count, seed=1))
    ]
    size = sum(len(content) for _, content in files)
    return _written(
        folder,
        files,
        kind="text",
        title=f"{count:,} text files",
        marks=[_mark(number, 1) for number in range(count)],
        note=f"{size / 1e6:.1f} MB of Markdown: sentences of Python's manual, shuffled.",
    )


def pdf_work(folder: Path, corpus: Path, *, count: int) -> Work | None:
    """PDFs of the corpus in which pdfium finds text; no books, which would dominate the time."""
    chosen: list[tuple[str, bytes]] = []
    pages = 0
    for path in sorted(corpus.rglob("*.pdf")):
        found = _pages_with_text(path)
        if found and len(chosen) < count:
            chosen.append((f"{len(chosen):03}-{path.name}", path.read_bytes()))
            pages += found
    if not chosen:
        return None
    return _written(
        folder,
        chosen,
        kind="pdf",
        title=f"{len(chosen)} PDFs",
        marks=[],
        note=f"{pages} pages, from a collection of real and of difficult files.",
    )


def _pages_with_text(path: Path) -> int:
    """Number of pages of a PDF; 0 if it is not suitable."""
    try:
        with PdfDocument(path) as document:
            pages = len(document)
            if pages > _PDF_PAGES:
                return 0
            texts = [page.get_textpage().get_text_range() for page in document]
    except PdfiumError:
        return 0
    has_text = any(character.isalnum() for text in texts for character in text)
    return pages if has_text else 0


def html_work(folder: Path, corpus: Path | None, *, count: int) -> Work:
    """Repeated real pages, each copy with a different added sentence; or generated pages."""
    pages = _real_pages(corpus) if corpus else []
    source = f"{len(pages)} real pages, each many times, with a sentence of its own each time."
    if not pages:
        pages = list(_generated_pages(10))
        source = "generated pages with navigation and a footer, with a sentence of their own each."
    files = []
    for number in range(count):
        sentence = f" This is {_mark(number, 2)}, whatever else it may say."
        page = _with_sentence(pages[number % len(pages)], sentence)
        files.append((f"{number:05}.html", page.encode()))
    size = sum(len(content) for _, content in files)
    return _written(
        folder,
        files,
        kind="html",
        title=f"{count:,} HTML pages",
        marks=[_mark(number, 2) for number in range(count)],
        note=f"{size / 1e6:.1f} MB; {source}",
    )


def _real_pages(corpus: Path) -> list[str]:
    """Pages in UTF-8 with a long paragraph, and small enough for a benchmark."""
    pages = []
    for path in sorted(corpus.rglob("*.html")):
        content = path.read_bytes()
        if len(content) > _HTML_BYTES:
            continue
        try:
            page = content.decode()
        except UnicodeDecodeError:
            continue
        if any(map(_is_long, _PARAGRAPH.finditer(page))):
            pages.append(page)
    return pages


def _is_long(paragraph: re.Match[str]) -> bool:
    return len(_TAG.sub("", paragraph["text"])) >= _LONG_PARAGRAPH


def _with_sentence(page: str, sentence: str) -> str:
    """Append the sentence to every long paragraph, because some readers drop some of them."""
    return _PARAGRAPH.sub(
        lambda found: found["begin"] + found["text"] + sentence * _is_long(found) + found["end"],
        page,
    )


def _generated_pages(count: int) -> Iterator[str]:
    rng = random.Random(3)
    sentences = _sentences()
    links = "".join(
        f'<li><a href="/{word}">{word.title()}</a></li>' for word in sorted(topics)[:60]
    )
    for number in range(count):
        paragraphs = "".join(
            f"<p>{escape(' '.join(rng.choices(sentences, k=5)))}</p>" for _ in range(12)
        )
        yield (
            f"<!doctype html><html><head><title>Page {number}</title></head><body>"
            f"<nav><ul>{links}</ul></nav><main><article><h1>Page {number}</h1>{paragraphs}"
            f"</article></main><footer><ul>{links}</ul><p>All rights reserved.</p></footer>"
            "</body></html>"
        )


def _sentences() -> list[str]:
    manual = " ".join(" ".join(topics.values()).split())
    return re.split(r"(?<=[.:]) ", manual)


def _mark(number: int, seed: int) -> str:
    return f"Document {number} of round {seed}"


def _written(
    folder: Path,
    files: Sequence[tuple[str, bytes]],
    *,
    kind: Kind,
    title: str,
    marks: Sequence[str],
    note: str,
) -> Work:
    folder.mkdir(parents=True)
    for name, content in files:
        (folder / name).write_bytes(content)
    return Work(kind=kind, title=title, folder=folder, marks=frozenset(marks), note=note)
