"""Converts Word 97 documents to Markdown, as those of Word 2007 are (formats/word).

Read: headings, lists with their numbers, tables (nested and merged ones too), text boxes, links,
foot- and endnotes at the end of their section; headers and footers, once; comments with their
authors, at the end. Tracked deletions are dropped; hidden text is left out, and reported if it is
as long as a sentence. Not read: pictures, embedded objects, fields of forms that have no text.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import olefile
from lxml import etree

from ingest.formats.common.markdown import plain
from ingest.formats.common.notes import end_sections
from ingest.formats.office.blocks import cell_text, comment_text, one_line
from ingest.formats.word.body import WordBody
from ingest.formats.word.numbering import Numbering
from ingest.formats.word.runs import Runs
from ingest.formats.word.styles import WordStyles
from ingest.formats.word.word_97.body import BodyReader
from ingest.formats.word.word_97.file import (
    COMMENT_AUTHORS,
    COMMENT_MARKS,
    COMMENTS,
    ENDNOTES,
    FONTS,
    FOOTNOTES,
    HEADERS,
    STYLES,
    WordFile,
    in_order,
)
from ingest.formats.word.word_97.properties import Formats
from ingest.formats.word.word_97.styles import Styles, numbering
from ingest.optional_steps import improve

VERSION = "word_97 4"
_ONLY_A_NUMBER = 20  # characters; a shorter footer with a page field holds only the page number
_SEPARATORS, _PER_SECTION = 6, 6  # stories before those of the first section, and of each section
_HEADERS = frozenset({0, 1, 4})  # of a section; the others are footers
_COMMENT_SIZE, _AUTHOR = 30, 20  # bytes; offset of the number of the author


@dataclass(frozen=True, slots=True, kw_only=True)
class WordText:
    """A document as Markdown."""

    text: str
    hides_sentence: bool
    leaves_out: bool
    """Whether text was deleted or hidden."""


def read(ole: olefile.OleFileIO) -> WordText:
    """Read a document. Raises ValueError, struct.error or OSError if it is damaged."""
    return _Document(WordFile(ole)).read()


class _Document:
    def __init__(self, file: WordFile) -> None:
        self._file = file
        self._reader = BodyReader(
            file,
            Formats(file),
            improve("styles", lambda: Styles(file.table(STYLES)), otherwise=lambda: Styles(b"")),
            improve("styles", lambda: dict(_fonts(file.table(FONTS))), otherwise=dict[int, str]),
        )
        lists = improve("numbering", lambda: numbering(file), otherwise=lambda: None)
        self._numbering = Numbering(lists)

    def read(self) -> WordText:
        parts = self._file.parts
        body = self._body()
        blocks = body.read(self._reader.read(parts.body, parts.footnotes))
        for box in self._reader.other_boxes():
            blocks += body.read(box)
        headers, footers = improve(
            "headers_footers", self._margins, otherwise=lambda: (list[str](), list[str]())
        )
        noted = improve(
            "notes", lambda: end_sections(blocks, self._notes(body)), otherwise=lambda: blocks
        )
        comments = improve("comments", lambda: list(self._comments()), otherwise=list[str])
        texts = [*headers, *noted, *footers, *filter(None, comments)]
        return WordText(
            text="\n\n".join(texts),
            hides_sentence=body.hidden.has_sentence,
            leaves_out=self._reader.leaves_out,
        )

    def _body(self) -> WordBody:
        return WordBody(
            styles=WordStyles(None),
            numbering=self._numbering,
            runs=Runs({}, drop_faint=False),
            show=_nothing,
        )

    def _stories(self, index: int, start: int, end: int) -> list[tuple[int, int]]:
        """Start and end of the texts in a part of the file."""
        places, _ = self._file.places(index, 0)
        return [(first, min(last, end)) for first, last in pairwise(in_order(places, start))]

    def _notes(self, body: WordBody) -> dict[int, str]:
        """By the number that the body gave them."""
        parts = self._file.parts
        stories = {
            "footnote": self._stories(FOOTNOTES, parts.footnotes, parts.headers),
            "endnote": self._stories(ENDNOTES, parts.endnotes, parts.text_boxes),
        }
        found = {}
        for (kind, key), number in body.runs.notes.items():
            at = int(key)
            if at < len(stories[kind]):
                reader = self._body()
                found[number] = cell_text(reader.read(self._reader.read(*stories[kind][at])))
                body.hidden.has_sentence |= reader.hidden.has_sentence
        return found

    def _margins(self) -> tuple[list[str], list[str]]:
        """Each distinct header and footer, except those with only a page number."""
        parts = self._file.parts
        headers: dict[str, None] = {}
        footers: dict[str, None] = {}
        stories = self._stories(HEADERS, parts.headers, parts.macros)[_SEPARATORS:]
        for at, (start, end) in enumerate(stories):
            text = self._margin(self._reader.read(start, end))
            if text:
                (headers if at % _PER_SECTION in _HEADERS else footers)[text] = None
        return (
            [plain(f"Header: {text}") for text in headers],
            [plain(f"Footer: {text}") for text in footers],
        )

    @staticmethod
    def _margin(story: etree._Element) -> str:
        runs = Runs({}, drop_faint=False)
        texts = []
        for paragraph in story.iter("{*}p"):
            inline = runs.read(paragraph, may_be_faint=False, is_hidden=False)
            text = one_line(inline.text)
            if text and not (inline.has_page_number and len(text) < _ONLY_A_NUMBER):
                texts.append(text)
        return " ".join(texts)

    def _comments(self) -> Iterator[str]:
        parts = self._file.parts
        authors = list(_names(self._file.table(COMMENT_AUTHORS)))
        _, marks = self._file.places(COMMENT_MARKS, _COMMENT_SIZE)
        stories = self._stories(COMMENTS, parts.comments, parts.endnotes)
        for mark, (start, end) in zip(marks, stories, strict=False):
            (who,) = struct.unpack_from("<h", mark, _AUTHOR)
            author = authors[who] if 0 <= who < len(authors) else None
            yield comment_text(author, cell_text(self._body().read(self._reader.read(start, end))))


def _nothing(_: etree._Element) -> list[str]:
    return []


def _names(table: bytes) -> Iterator[str]:
    """Texts in UTF-16, each behind its length."""
    at = 0
    while at + 2 <= len(table):
        (length,) = struct.unpack_from("<H", table, at)
        yield table[at + 2 : at + 2 + 2 * length].decode("utf-16-le", "replace")
        at += 2 + 2 * length


def _fonts(table: bytes) -> Iterator[tuple[int, str]]:
    """Names of the fonts by their numbers."""
    if len(table) < 4:
        return
    (count,) = struct.unpack_from("<H", table)
    at = 4
    for number in range(count):
        if at >= len(table):
            return
        stated = table[at + 1 : at + 1 + table[at]]
        name = stated[39:].decode("utf-16-le", "replace").partition("\0")[0]
        yield number, name
        at += 1 + table[at]
