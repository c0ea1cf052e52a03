"""E-books (EPUB 2 and 3): the chapters in reading order."""

import zipfile
from collections.abc import Set
from functools import partial
from importlib.metadata import version

from ingest.errors import Permanent
from ingest.formats.common import inflate_limit
from ingest.formats.common.input_file import Extraction, InputFile, filled, present
from ingest.formats.encoding.decode import decode
from ingest.formats.epub.chapter import read_chapter
from ingest.formats.epub.contents import Entry
from ingest.formats.epub.package import Book, read_book
from ingest.formats.html.fragment import whole_markdown
from ingest.formats.office.opc import Package
from ingest.optional_steps import improve

_VERSION = f"lxml {version('lxml')}, epub 2"
_MIB = 1024 * 1024
_LIMITS = inflate_limit.PackageLimits(part=32 * _MIB)
_MOST_TEXT = 64  # MiB; the Bible has 5
_UNLISTED = Entry(title="", depth=1, fragment="")


def extract(source: InputFile) -> Extraction:
    """Extract all chapters in Markdown under their headings, and the book's metadata.

    Left out: cover, tables of contents, page numbers. Raises Permanent: `encrypted` (DRM),
    `corrupt`, `too_large`, `archive_unsafe`.
    """
    inflate_limit.guard(source.stream, _LIMITS)
    package = Package(source.stream)
    with zipfile.ZipFile(source.stream) as names:
        book = read_book(package, names.namelist())
    texts, lost, has_hidden_text = _texts(book, package, book.aside)
    if not any(texts):
        texts, lost, has_hidden_text = _texts(book, package, frozenset())
    if lost == len(book.chapters):
        raise Permanent("The e-book is damaged: its chapters are missing.", code="corrupt")
    return Extraction(
        parts=["\n\n".join(filter(None, texts))],
        extractor=_VERSION,
        title=book.title,
        metadata=book.metadata | filled(chaptersFailed=lost),
        warnings=present(
            hidden_text=has_hidden_text, chapters_failed=lost, parts_unreadable=package.broken
        ),
    )


def _texts(book: Book, package: Package, aside: Set[str]) -> tuple[list[str], int, bool]:
    """The texts of all chapters, how many are lost, and whether one hides a sentence.

    `aside`: parts that may be a cover or a table of contents, and are left out then.
    """
    texts: list[str] = []
    lost = 0
    size = 0
    has_hidden_text = False
    for part in book.chapters:
        try:
            data = package.read(part)
        except Exception:  # missing, or zipfile cannot read it
            lost += 1
            continue
        text, hides = improve(
            "contents",
            partial(read_chapter, data, _entries(book, part), is_aside=part in aside),
            otherwise=partial(whole_markdown, decode(data)[0]),
        )
        has_hidden_text |= hides
        texts.append(text.strip())
        size += len(text.encode("utf-8", "replace"))
        if size > _MOST_TEXT * _MIB:
            raise Permanent(f"The e-book has more than {_MOST_TEXT} MiB of text.", code="too_large")
    return texts, lost, has_hidden_text


def _entries(book: Book, part: str) -> list[Entry]:
    """Table of contents entries of a part; without a table every part is a chapter."""
    return book.contents.get(part, []) if book.contents else [_UNLISTED]
