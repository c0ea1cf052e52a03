"""Decodes answers of a parser process. A file may have taken it over, so nothing is trusted.

msgspec checks that fields exist and have the right types; the functions here check their values.
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, Literal, TypeVar, get_args

import msgspec

from ingest.errors import ErrorCode, IsArchive, Permanent, Transient
from ingest.formats.archives.members import is_safe_path
from ingest.model import (
    LONGEST_METADATA,
    LONGEST_URL,
    MOST_LINKS,
    Chunk,
    Document,
    JailStatus,
    Member,
    MissingModule,
    Page,
    Sitemap,
    SkippedStep,
    Step,
    WebPage,
)
from ingest.sandbox.messages import (
    Answer,
    Checked,
    Parsed,
    Rechunked,
    Reply,
    SitemapRead,
    Unpacked,
)
from ingest.sandbox.protocol import MAX_FRAME, MAX_MESSAGE, ChunkRow

_LONGEST_CAUSE = 300
_LONGEST_CODE = 8
_MOST_TERMS = 8  # per character: more than NFKC and other spellings make of it
# Objects of a decoded frame may take twenty times its bytes, and seconds to build. A frame as small
# does no harm; in a larger one, the text may have any length, and the rest is limited.
_SMALL_FRAME = 1024 * 1024
_MOST_BYTES = 64 * 1024 * 1024
# Bytes of the rows of chunks, most of which are terms, for a byte of text.
_ROWS_PER_TEXT = 8
# Chunks are ranges of the text: a few bytes may stand for many characters.
_MOST_CHUNK_CHARACTERS = MAX_FRAME
_MOST_STEPS = len(get_args(Step))
_CODES = frozenset(get_args(ErrorCode))
T = TypeVar("T")


class BadFrame(Exception):
    """A child sent a frame that a working child never sends."""


class _Note(msgspec.Struct):
    stage: Literal["extract", "chunk"]


class _RawDocument(msgspec.Struct):
    text: msgspec.Raw = msgspec.Raw()
    metadata: msgspec.Raw = msgspec.Raw()


class _RawFrame(msgspec.Struct):
    """Parts of a frame, not decoded: for their lengths."""

    document: msgspec.Raw = msgspec.Raw(b"{}")
    chunks: msgspec.Raw = msgspec.Raw()


class _Frame(msgspec.Struct, kw_only=True, tag_field="kind"):
    resident: int
    skipped_steps: tuple[SkippedStep, ...]


class _Parsed(_Frame, tag="parsed"):
    document: Document
    chunks: list[ChunkRow]
    extract_seconds: float
    chunk_seconds: float
    members: tuple[Member, ...]

    def result(self, _: str) -> Parsed:
        _check_document(self.document)
        _check_members(self.members)
        return Parsed(
            document=self.document,
            chunks=_chunks(self.chunks, self.document.text),
            extract_seconds=self.extract_seconds,
            chunk_seconds=self.chunk_seconds,
            members=self.members,
        )


class _Unpacked(_Frame, tag="unpacked"):
    members: tuple[Member, ...]
    skipped: dict[str, int]

    def result(self, _: str) -> Unpacked:
        _check_members(self.members)
        return Unpacked(members=self.members, skipped=self.skipped)


class _Rechunked(_Frame, tag="rechunked"):
    chunks: list[ChunkRow]
    language: str | None

    def result(self, text: str) -> Rechunked:
        _check_language(self.language)
        return Rechunked(chunks=_chunks(self.chunks, text), language=self.language)


class _SitemapRead(_Frame, tag="sitemap_read"):
    sitemap: Sitemap

    def result(self, _: str) -> SitemapRead:
        _check_urls(self.sitemap.pages)
        _check_urls(self.sitemap.sitemaps)
        return SitemapRead(sitemap=self.sitemap)


class _Checked(_Frame, tag="checked"):
    missing: tuple[MissingModule, ...]
    jail: JailStatus
    unreadable: tuple[str, ...]

    def result(self, _: str) -> Checked:
        return Checked(missing=self.missing, jail=self.jail, unreadable=self.unreadable)


class _Failure(_Frame, tag="failure"):
    code: ErrorCode
    message: str
    is_transient: bool
    is_archive: bool

    def result(self, _: str) -> Permanent | Transient:
        message = self.message[:MAX_MESSAGE]
        if self.is_transient:
            return Transient(message, code=self.code)
        return IsArchive(message) if self.is_archive else Permanent(message, code=self.code)


_FRAMES = msgspec.json.Decoder(
    _Parsed | _Unpacked | _Rechunked | _SitemapRead | _Checked | _Failure
)
_RAW_FRAMES = msgspec.json.Decoder(_RawFrame)
_RAW_DOCUMENTS = msgspec.json.Decoder(_RawDocument)
_NOTES = msgspec.json.Decoder(_Note)
_ANYTHING: msgspec.json.Decoder[Any] = msgspec.json.Decoder()


def decode_note(body: bytes) -> str:
    """Decode the stage named by a progress frame. Raises BadFrame for anything else."""
    return _decoded(body, _NOTES).stage


def decode_reply(body: bytes, *, text: str = "") -> Reply:
    """Decode the answer in a frame's body. Raises BadFrame if any field is invalid.

    `text`: the text to chunk, for a RechunkRequest.
    """
    if len(body) > _SMALL_FRAME:
        _check_sizes(body, len(text))
    try:
        if rb"\u0000" in body and _holds_nul(_decoded(body, _ANYTHING)):
            raise BadFrame("text that cannot be stored")
    except RecursionError:
        raise BadFrame("an invalid frame") from None
    frame = _decoded(body, _FRAMES)
    _check_steps(frame.skipped_steps)
    result: Answer | Permanent | Transient = frame.result(text)
    return Reply(result=result, skipped=frame.skipped_steps, resident=frame.resident)


def _decoded(body: bytes | memoryview, decoder: msgspec.json.Decoder[T]) -> T:
    try:
        return decoder.decode(body)
    except (ValueError, RecursionError):  # msgspec's errors are ValueErrors, and quote values
        raise BadFrame("an invalid frame") from None


def _check_sizes(body: bytes, sent: int) -> None:
    """`sent`: length of the text to chunk, which is not in the frame."""
    frame = _decoded(body, _RAW_FRAMES)
    document = _decoded(memoryview(frame.document), _RAW_DOCUMENTS)
    text, chunks = len(memoryview(document.text)), len(memoryview(frame.chunks))
    if (
        len(memoryview(document.metadata)) > 2 * LONGEST_METADATA
        or chunks > max(_MOST_BYTES, _ROWS_PER_TEXT * max(text, sent))
        or len(body) - text - chunks > _MOST_BYTES
    ):
        raise BadFrame("more than fits its text")


def _check_document(document: Document) -> None:
    _check_pages(document.pages, len(document.text))
    _check_steps(document.skipped)
    _check_language(document.language)
    if document.web is not None:
        _check_web(document.web)


def _check_steps(steps: tuple[SkippedStep, ...]) -> None:
    if len(steps) > _MOST_STEPS or any(
        step.times < 1 or len(step.cause) > _LONGEST_CAUSE for step in steps
    ):
        raise BadFrame("an invalid record of a failed step")


def _check_language(code: str | None) -> None:
    if code is not None and not (code.isascii() and code.isalpha() and len(code) <= _LONGEST_CODE):
        raise BadFrame("an invalid language")


def _check_pages(pages: tuple[Page, ...], length: int) -> None:
    last_end = 0
    for page in pages:
        if not last_end <= page.start <= page.end <= length:
            raise BadFrame("pages that overlap or exceed the text")
        last_end = page.end


def _check_web(web: WebPage) -> None:
    if len(web.links) > MOST_LINKS or len(set(web.links)) < len(web.links):
        raise BadFrame("too many links, or duplicates")
    _check_urls(filter(None, (*web.links, web.canonical, web.refresh)))


def _check_urls(urls: Iterable[str]) -> None:
    if not all(len(url) <= LONGEST_URL and url.startswith(("http://", "https://")) for url in urls):
        raise BadFrame("a link that is no web address")


def _check_members(members: tuple[Member, ...]) -> None:
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


def _chunks(rows: list[ChunkRow], text: str) -> list[Chunk]:
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


def _holds_nul(value: Any) -> bool:
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, dict):
        return any("\0" in key or _holds_nul(item) for key, item in value.items())
    return isinstance(value, list) and any(map(_holds_nul, value))
