"""What parent and parser process say to each other: JSON frames, each after its length.

JSON and a codec by hand, not pickle: a parser that a file has taken over can then lie, but not
run code in the parent. What comes from a child is checked field by field.
"""

import struct
from dataclasses import asdict, dataclass
from typing import Any, TypeVar, cast, get_args

import orjson

from ingest.errors import ErrorCode, Permanent, Transient
from ingest.model import (
    LONGEST_URL,
    MOST_LINKS,
    Chunk,
    ChunkSettings,
    Coverage,
    Document,
    Encoding,
    Page,
    WebPage,
)

LENGTH = struct.Struct(">I")
MAX_FRAME = 512 * 1024 * 1024
"""Bytes; a longer answer is refused."""

_CODES = frozenset(get_args(ErrorCode))
_MAX_MESSAGE = 500
T = TypeVar("T")


class BadFrame(Exception):
    """A child sent what a working child never sends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseRequest:
    """What to do with a file."""

    name: str
    """As the user named it; a hint for type detection, never opened."""
    declared: str | None
    """Content type stated by the sender."""
    max_pages: int
    chunk: ChunkSettings
    url: str | None = None
    """Where the file was fetched, after redirects; a page's links are relative to it."""
    members: str | None = None
    """An empty folder for the files inside of the file; None: they are only named."""
    ocr: bool = True
    """Whether text in pictures may be recognised, which takes seconds a page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A file inside of an archive or a message."""

    path: str
    """Inside of the container, `/`-separated, safe and unlike any other."""
    file: str
    """Its name in the folder of the request; empty for one that could not be had."""
    code: str | None = None
    message: str | None = None
    """Why it could not be had."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A file as text and chunks, with the time that took."""

    document: Document
    chunks: list[Chunk]
    extract_seconds: float
    chunk_seconds: float
    members: tuple[Member, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpackRequest:
    """An archive to take apart."""

    name: str
    folder: str
    """Empty; the files go there, under names that are no paths."""
    max_members: int
    max_bytes: int
    """Of all members together, inflated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpacked:
    """What was in an archive."""

    members: tuple[Member, ...]
    skipped: dict[str, int]
    """Entries that are no files of anybody, counted by kind: `link`, `device`, `system` …"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RechunkRequest:
    """A text that was extracted before, to be cut anew; the file holds it in UTF-8."""

    pages: tuple[Page, ...]
    chunk: ChunkSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Rechunked:
    """The chunks of a text."""

    chunks: list[Chunk]


Request = ParseRequest | UnpackRequest | RechunkRequest
Answer = Parsed | Unpacked | Rechunked


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The answer to one request."""

    result: Answer | Permanent | Transient
    resident: int
    """Bytes of memory the child holds on to afterwards."""


def frame(value: dict[str, Any]) -> bytes:
    """One message with its length in front. Permanent `too_large` above MAX_FRAME."""
    body = orjson.dumps(value)
    if len(body) > MAX_FRAME:
        raise Permanent("The file holds more text than can be handled.", code="too_large")
    return LENGTH.pack(len(body)) + body


def encode_request(path: str, request: ParseRequest, *, cpu_seconds: float) -> bytes:
    """The frame of one request."""
    fields = asdict(request)
    fields["name"] = request.name.encode("utf-8", "replace").decode()  # JSON has no half characters
    return frame({"path": path, "cpu_seconds": cpu_seconds, **fields})


def decode_request(body: bytes) -> tuple[str, float, ParseRequest]:
    """Path, CPU seconds and request; the parent is trusted."""
    data = orjson.loads(body)
    path, cpu_seconds = data.pop("path"), data.pop("cpu_seconds")
    settings = ChunkSettings(**data.pop("chunk"))
    return path, cpu_seconds, ParseRequest(chunk=settings, **data)


def encode_parsed(parsed: Parsed, *, resident: int) -> bytes:
    """The frame of a success. Chunk texts stay away: they are slices of the document's."""
    chunks = [
        [piece.ordinal, piece.token_count, piece.start, piece.end, piece.headings, piece.page]
        for piece in parsed.chunks
    ]
    return frame(
        {
            "document": asdict(parsed.document),
            "chunks": chunks,
            "extract_seconds": parsed.extract_seconds,
            "chunk_seconds": parsed.chunk_seconds,
            "resident": resident,
        }
    )


def encode_failure(error: Permanent | Transient, *, resident: int) -> bytes:
    """The frame of a failure."""
    return frame(
        {
            "code": error.code,
            "message": str(error)[:_MAX_MESSAGE],
            "transient": isinstance(error, Transient),
            "resident": resident,
        }
    )


def decode_reply(body: bytes) -> Reply:
    """The answer in a frame's body. BadFrame unless every field is what it must be."""
    try:
        data = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadFrame("not JSON") from error
    if not isinstance(data, dict):
        raise BadFrame("not an object")
    if rb"\u0000" in body and _holds_nul(data):
        raise BadFrame("text that cannot be stored")
    resident = _get(data, "resident", int)
    return Reply(result=_parsed(data) if "document" in data else _failure(data), resident=resident)


def _failure(data: dict[str, Any]) -> Permanent | Transient:
    stated, message = _get(data, "code", str), _get(data, "message", str)[:_MAX_MESSAGE]
    if stated not in _CODES:
        raise BadFrame("an unknown error code")
    code = cast(ErrorCode, stated)
    if _get(data, "transient", bool):
        return Transient(message, code=code)
    return Permanent(message, code=code)


def _parsed(data: dict[str, Any]) -> Parsed:
    document = _document(_get(data, "document", dict))
    rows = _get(data, "chunks", list)
    return Parsed(
        document=document,
        chunks=[_chunk(row, ordinal, document.text) for ordinal, row in enumerate(rows)],
        extract_seconds=_get(data, "extract_seconds", float),
        chunk_seconds=_get(data, "chunk_seconds", float),
    )


def _document(data: dict[str, Any]) -> Document:
    text = _get(data, "text", str)
    encoding = _optional(data, "encoding", dict)
    web = _optional(data, "web", dict)
    return Document(
        text=text,
        media_type=_get(data, "media_type", str),
        extractor=_get(data, "extractor", str),
        title=_optional(data, "title", str),
        encoding=None if encoding is None else _encoding(encoding),
        pages=_pages(_get(data, "pages", list), len(text)),
        coverage=_coverage(_get(data, "coverage", dict)),
        metadata=_get(data, "metadata", dict),
        warnings=_strings(_get(data, "warnings", list)),
        web=None if web is None else _web_page(web),
    )


def _web_page(data: dict[str, Any]) -> WebPage:
    links = _strings(_get(data, "links", list))
    canonical = _optional(data, "canonical", str)
    if len(links) > MOST_LINKS or len(set(links)) < len(links):
        raise BadFrame("too many links, or one twice")
    if not all(map(_is_address, links if canonical is None else (*links, canonical))):
        raise BadFrame("a link that is no web address")
    return WebPage(
        links=links,
        canonical=canonical,
        index=_get(data, "index", bool),
        follow=_get(data, "follow", bool),
        is_cut=_get(data, "is_cut", bool),
    )


def _is_address(text: str) -> bool:
    return len(text) <= LONGEST_URL and text.startswith(("http://", "https://"))


def _encoding(data: dict[str, Any]) -> Encoding:
    return Encoding(
        name=_get(data, "name", str),
        confidence=_get(data, "confidence", float),
        replaced=_get(data, "replaced", int),
    )


def _coverage(data: dict[str, Any]) -> Coverage:
    fields = {name: _get(data, name, int) for name in ("pages", "with_text", "empty", "failed")}
    return Coverage(**fields)


def _pages(rows: list[Any], length: int) -> tuple[Page, ...]:
    pages = []
    last_end = 0
    for row in rows:
        page = Page(
            number=_get(row, "number", int),
            start=_get(row, "start", int),
            end=_get(row, "end", int),
        )
        if not last_end <= page.start <= page.end <= length:
            raise BadFrame("pages that do not follow each other in the text")
        last_end = page.end
        pages.append(page)
    return tuple(pages)


def _chunk(row: Any, expected: int, text: str) -> Chunk:
    if not isinstance(row, list) or len(row) != 6:
        raise BadFrame("a chunk with other fields")
    ordinal, token_count, start, end, headings, page = row
    numbers = (ordinal, token_count, start, end)
    if any(type(number) is not int for number in numbers) or type(headings) is not list:
        raise BadFrame("a chunk with fields of other types")
    if ordinal != expected or token_count < 0 or not 0 <= start < end <= len(text):
        raise BadFrame("a chunk outside of its text")
    if page is not None and type(page) is not int:
        raise BadFrame("a chunk on no page")
    return Chunk(
        ordinal=ordinal,
        text=text[start:end],
        token_count=token_count,
        start=start,
        end=end,
        headings=_strings(headings),
        page=page,
    )


def _strings(values: list[Any]) -> tuple[str, ...]:
    if not all(type(value) is str for value in values):
        raise BadFrame("a list of other things than strings")
    return tuple(values)


def _get(data: Any, key: str, kind: type[T]) -> T:
    value = data.get(key) if isinstance(data, dict) else None
    if kind is float and type(value) is int:
        return kind(value)  # type: ignore[call-arg]  # JSON writes 1.0 as 1 elsewhere
    if type(value) is not kind:
        raise BadFrame(f"{key} is not of type {kind.__name__}")
    return value


def _optional(data: dict[str, Any], key: str, kind: type[T]) -> T | None:
    return None if data.get(key) is None else _get(data, key, kind)


def _holds_nul(value: Any) -> bool:
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, dict):
        return any("\0" in key or _holds_nul(item) for key, item in value.items())
    return isinstance(value, list) and any(map(_holds_nul, value))
