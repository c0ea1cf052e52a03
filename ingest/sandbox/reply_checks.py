"""Checks the values in answers of a parser process, which msgspec has given their types."""

import struct
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import get_args

from ingest.errors import ErrorCode
from ingest.formats.archives.members import is_safe_path
from ingest.model import (
    LONGEST_URL,
    MOST_LINKS,
    Chunk,
    Document,
    Member,
    Page,
    SkippedStep,
    Step,
    WebPage,
)
from ingest.page_words import LONGEST_PACKED, MOST_PAGE_WORDS, Box, PageWords
from ingest.sandbox.messages import LARGEST_SIDE, MOST_BOXES
from ingest.sandbox.protocol import MAX_FRAME, ChunkRow

_PNG = b"\x89PNG\r\n\x1a\n"
_LONGEST_CAUSE = 300
_LONGEST_CODE = 8
_MOST_TERMS = 8  # per character: more than NFKC and other spellings make of it
# Chunks are ranges of the text: a few bytes may stand for many characters.
_MOST_CHUNK_CHARACTERS = MAX_FRAME
_MOST_STEPS = len(get_args(Step))
_CODES = frozenset(get_args(ErrorCode))


class BadFrame(Exception):
    """A child sent a frame that a working child never sends."""


def check_document(document: Document) -> None:
    _check_pages(document.pages, len(document.text))
    check_steps(document.skipped)
    check_language(document.language)
    _check_page_words(document.page_words)
    _check_left_out(document)
    if document.web is not None:
        _check_web(document.web)


def check_steps(steps: tuple[SkippedStep, ...]) -> None:
    if len(steps) > _MOST_STEPS or any(
        step.times < 1 or len(step.cause) > _LONGEST_CAUSE for step in steps
    ):
        raise BadFrame("an invalid record of a failed step")


def check_language(code: str | None) -> None:
    if code is not None and not (code.isascii() and code.isalpha() and len(code) <= _LONGEST_CODE):
        raise BadFrame("an invalid language")


def _check_pages(pages: tuple[Page, ...], length: int) -> None:
    last_end = 0
    for page in pages:
        if not last_end <= page.start <= page.end <= length:
            raise BadFrame("pages that overlap or exceed the text")
        last_end = page.end


def _check_page_words(pages: tuple[PageWords, ...]) -> None:
    numbers = [words.page for words in pages]
    if (
        any(here >= following for here, following in pairwise([0, *numbers]))
        or any(len(words.packed) > LONGEST_PACKED for words in pages)
        or sum(len(words.packed) for words in pages) > MOST_PAGE_WORDS
    ):
        raise BadFrame("words of pages out of order, or too many")


def _check_left_out(document: Document) -> None:
    places = [0, *(place for place, _ in document.left_out), len(document.text)]
    if any(here > following for here, following in pairwise(places)):
        raise BadFrame("parts left out outside the text")


def check_image(png: bytes, size: tuple[int, int]) -> None:
    """Raises BadFrame if the bytes are no PNG of this width and height."""
    if not 0 < max(size) <= LARGEST_SIDE or min(size) < 1:
        raise BadFrame("a picture that is too large")
    if png[:8] != _PNG or png[12:24] != b"IHDR" + struct.pack(">II", *size):
        raise BadFrame("a picture that is no PNG")


def check_boxes(places: Sequence[Sequence[Box]]) -> None:
    """Raises BadFrame if a box is not on the page, or one place has too many."""
    for boxes in places:
        if len(boxes) > MOST_BOXES or not all(
            0 <= left <= right <= 1 and 0 <= top <= bottom <= 1
            for left, top, right, bottom in boxes
        ):
            raise BadFrame("a place outside the page")


def _check_web(web: WebPage) -> None:
    if len(web.links) > MOST_LINKS or len(set(web.links)) < len(web.links):
        raise BadFrame("too many links, or duplicates")
    check_urls(filter(None, (*web.links, web.canonical, web.refresh)))


def check_urls(urls: Iterable[str]) -> None:
    if not all(len(url) <= LONGEST_URL and url.startswith(("http://", "https://")) for url in urls):
        raise BadFrame("a link that is no web address")


def check_members(members: tuple[Member, ...]) -> None:
    for member in members:
        if not is_safe_path(member.path):
            raise BadFrame("a member outside its container")
        if member.code is None and not member.file.isdecimal():
            raise BadFrame("a member whose file name is invalid")
        if member.code is not None and (member.file or member.code not in _CODES):
            raise BadFrame("a member with an unknown error code")
    for names in (
        [member.path for member in members],
        [member.file for member in members if member.file],
    ):
        if len(set(names)) < len(names):
            raise BadFrame("a duplicate member")


def checked_chunks(rows: list[ChunkRow], text: str) -> list[Chunk]:
    if sum(_length((row.start, row.end)) + _length(row.repeated_header) for row in rows) > (
        _MOST_CHUNK_CHARACTERS
    ):
        raise BadFrame("chunks that are longer than a text can be")
    return [_chunk(row, ordinal, text) for ordinal, row in enumerate(rows)]


def _chunk(row: ChunkRow, expected: int, text: str) -> Chunk:
    start, end, header = row.start, row.end, row.repeated_header
    if row.ordinal != expected or row.token_count < 0 or not 0 <= start < end <= len(text):
        raise BadFrame("a chunk outside its text")
    if row.page is not None and (row.page_end is None or row.page_end < row.page):
        raise BadFrame("a chunk whose last page precedes its first")
    _check_range(header, start)
    _check_range(row.section, len(text))
    _check_terms(row)
    places = [start, *(position for position, *_ in row.sections), end]
    if any(here >= following for here, following in pairwise(places)):
        raise BadFrame("a section outside its chunk")
    own = text[start:end]
    return Chunk(text=own if header is None else text[slice(*header)] + own, **row._asdict())


def _length(value: tuple[int, int] | None) -> int:
    return 0 if value is None else max(0, value[1] - value[0])


def _check_range(value: tuple[int, int] | None, length: int) -> None:
    if value is not None and not 0 <= value[0] <= value[1] <= length:
        raise BadFrame("a range outside its text")


def _check_terms(row: ChunkRow) -> None:
    most = _MOST_TERMS * (row.end - row.start + 1)
    if any(len(terms) % 4 or len(terms) > 4 * most for terms in (row.words, row.grams)):
        raise BadFrame("terms that the text cannot have")
