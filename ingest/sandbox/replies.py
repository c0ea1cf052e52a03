"""Decodes answers of a parser process. A file may have taken it over, so nothing is trusted.

msgspec checks that fields exist and have the right types; the functions here check their values.
"""

from dataclasses import asdict
from typing import Any, Literal, TypeVar

import msgspec
import structlog

from ingest.errors import ErrorCode, IsArchive, Permanent, Transient
from ingest.formats.catalog import format_name
from ingest.model import (
    LONGEST_METADATA,
    Document,
    JailStatus,
    Member,
    MissingModule,
    Sitemap,
    SkippedStep,
)
from ingest.observability import metrics
from ingest.page_words import Box
from ingest.sandbox.messages import (
    Answer,
    Checked,
    Located,
    Parsed,
    Rechunked,
    Rendered,
    Reply,
    SitemapRead,
    Unpacked,
)
from ingest.sandbox.protocol import MAX_MESSAGE, ChunkRow
from ingest.sandbox.reply_checks import (
    BadFrame,
    check_boxes,
    check_document,
    check_image,
    check_language,
    check_members,
    check_steps,
    check_urls,
    checked_chunks,
)

log = structlog.get_logger()

# Objects of a decoded frame may take twenty times its bytes, and seconds to build. A frame as small
# does no harm; in a larger one, the text may have any length, and the rest is limited.
_SMALL_FRAME = 1024 * 1024
_MOST_BYTES = 64 * 1024 * 1024
# Bytes of the rows of chunks, most of which are terms, for a byte of text.
_ROWS_PER_TEXT = 8
T = TypeVar("T")


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
    number: int
    skipped_steps: tuple[SkippedStep, ...]


class _Parsed(_Frame, tag="parsed"):
    document: Document
    chunks: list[ChunkRow]
    extract_seconds: float
    chunk_seconds: float
    members: tuple[Member, ...]

    def result(self, _: str) -> Parsed:
        check_document(self.document)
        check_members(self.members)
        return Parsed(
            document=self.document,
            chunks=checked_chunks(self.chunks, self.document.text),
            extract_seconds=self.extract_seconds,
            chunk_seconds=self.chunk_seconds,
            members=self.members,
        )


class _Unpacked(_Frame, tag="unpacked"):
    members: tuple[Member, ...]
    skipped: dict[str, int]

    def result(self, _: str) -> Unpacked:
        check_members(self.members)
        return Unpacked(members=self.members, skipped=self.skipped)


class _Rechunked(_Frame, tag="rechunked"):
    chunks: list[ChunkRow]
    language: str | None

    def result(self, text: str) -> Rechunked:
        check_language(self.language)
        return Rechunked(chunks=checked_chunks(self.chunks, text), language=self.language)


class _SitemapRead(_Frame, tag="sitemap_read"):
    sitemap: Sitemap

    def result(self, _: str) -> SitemapRead:
        check_urls(self.sitemap.pages)
        check_urls(self.sitemap.sitemaps)
        return SitemapRead(sitemap=self.sitemap)


class _Rendered(_Frame, tag="rendered"):
    png: bytes
    width: int
    height: int

    def result(self, _: str) -> Rendered:
        check_image(self.png, (self.width, self.height))
        return Rendered(png=self.png, width=self.width, height=self.height)


class _Located(_Frame, tag="located"):
    width: float
    height: float
    places: tuple[tuple[Box, ...], ...]
    has_words: bool

    def result(self, _: str) -> Located:
        check_boxes(self.places)
        return Located(
            width=self.width, height=self.height, places=self.places, has_words=self.has_words
        )


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
    _Parsed | _Unpacked | _Rechunked | _SitemapRead | _Rendered | _Located | _Checked | _Failure
)
_RAW_FRAMES = msgspec.json.Decoder(_RawFrame)
_RAW_DOCUMENTS = msgspec.json.Decoder(_RawDocument)
_NOTES = msgspec.json.Decoder(_Note)
_ANYTHING: msgspec.json.Decoder[Any] = msgspec.json.Decoder()


def decode_note(body: bytes) -> str:
    """Decode the stage named by a progress frame. Raises BadFrame for anything else."""
    return _decoded(body, _NOTES).stage


def decode_reply(body: bytes, *, number: int, text: str = "") -> Reply:
    """Decode the answer in a frame's body. Raises BadFrame if any field is invalid.

    `number`: of the request. `text`: the text to chunk, for a RechunkRequest.
    """
    if len(body) > _SMALL_FRAME:
        _check_sizes(body, len(text))
    try:
        if rb"\u0000" in body and _holds_nul(_decoded(body, _ANYTHING)):
            raise BadFrame("text that cannot be stored")
    except RecursionError:
        raise BadFrame("an invalid frame") from None
    frame = _decoded(body, _FRAMES)
    if frame.number != number:  # twice, too early, or not at all
        raise BadFrame("an answer to another request")
    check_steps(frame.skipped_steps)
    result: Answer | Permanent | Transient = frame.result(text)
    return Reply(result=result, skipped=frame.skipped_steps, resident=frame.resident)


def expected(reply: Reply, kind: type[T]) -> T:
    """The answer; raises the error that came instead, or one for another kind of answer."""
    if isinstance(reply.result, kind):
        return reply.result
    if isinstance(reply.result, Permanent | Transient):
        raise reply.result
    raise Permanent("The parser sent an unexpected answer.", code="parser_crashed")


def report_skipped(reply: Reply) -> None:
    """Log and count the steps that failed on a file."""
    read = reply.result.document if isinstance(reply.result, Parsed) else None
    format = "other" if read is None else format_name(read.media_type)
    for skipped in reply.skipped:
        metrics.step_skipped(format, skipped.step, skipped.times)
        log.warning("parser_step_skipped", format=format, **asdict(skipped))


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


def _holds_nul(value: Any) -> bool:
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, dict):
        return any("\0" in key or _holds_nul(item) for key, item in value.items())
    return isinstance(value, list) and any(map(_holds_nul, value))
