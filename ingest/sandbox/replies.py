"""Decodes answers of a parser process, checked field by field: a file may have taken it over."""

from typing import Any, TypeVar, cast, get_args

import orjson

from ingest.errors import ErrorCode, IsArchive, Permanent, Transient
from ingest.formats.archives.members import is_safe_path
from ingest.model import (
    LONGEST_URL,
    MOST_LINKS,
    Chunk,
    Coverage,
    Document,
    Encoding,
    Member,
    MissingModule,
    Page,
    SkippedStep,
    Step,
    WebPage,
)
from ingest.sandbox.messages import Answer, Checked, Parsed, Rechunked, Reply, Unpacked
from ingest.sandbox.protocol import MAX_MESSAGE

_CODES = frozenset(get_args(ErrorCode))
_STEPS = frozenset(get_args(Step))
_LONGEST_CAUSE = 300
_COUNTS = ("pages", "with_text", "empty", "failed", "unread", "by_ocr")
T = TypeVar("T")


class BadFrame(Exception):
    """A child sent a frame that a working child never sends."""


def decode_note(body: bytes) -> str:
    """The stage named by a progress frame. BadFrame for anything else."""
    stage = _get(_object(body), "stage", str)
    if stage not in ("extract", "chunk"):
        raise BadFrame("an unknown stage")
    return stage


def decode_reply(body: bytes, *, text: str = "") -> Reply:
    """Decode the answer in a frame's body. BadFrame if any field is invalid.

    `text`: the text to chunk, for a RechunkRequest.
    """
    data = _object(body)
    if rb"\u0000" in body and _holds_nul(data):
        raise BadFrame("text that cannot be stored")
    resident = _get(data, "resident", int)
    skipped = _skipped(_optional(data, "skipped_steps", list) or [])
    return Reply(result=_result(data, text), skipped=skipped, resident=resident)


def _object(body: bytes) -> dict[str, Any]:
    try:
        data = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadFrame("not JSON") from error
    if not isinstance(data, dict):
        raise BadFrame("not an object")
    return data


def _result(data: dict[str, Any], text: str) -> Answer | Permanent | Transient:
    if "document" in data:
        return _parsed(data)
    if "unpacked" in data:
        return _unpacked(data)
    if "rechunked" in data:
        return Rechunked(chunks=_chunks(_get(data, "rechunked", list), text))
    if "missing" in data:
        return Checked(missing=tuple(map(_missing, _get(data, "missing", list))))
    return _failure(data)


def _failure(data: dict[str, Any]) -> Permanent | Transient:
    stated, message = _get(data, "code", str), _get(data, "message", str)[:MAX_MESSAGE]
    if stated not in _CODES:
        raise BadFrame("an unknown error code")
    code = cast(ErrorCode, stated)
    if _get(data, "transient", bool):
        return Transient(message, code=code)
    if _get(data, "is_archive", bool):
        return IsArchive(message)
    return Permanent(message, code=code)


def _missing(row: Any) -> MissingModule:
    return MissingModule(
        module=_get(row, "module", str), formats=_strings(_get(row, "formats", list))
    )


def _skipped(rows: list[Any]) -> tuple[SkippedStep, ...]:
    return tuple(map(_skipped_step, rows))


def _skipped_step(row: Any) -> SkippedStep:
    step, times = _get(row, "step", str), _get(row, "times", int)
    if step not in _STEPS or times < 1:
        raise BadFrame("a step that nobody knows")
    cause = _get(row, "cause", str)[:_LONGEST_CAUSE]
    return SkippedStep(step=cast(Step, step), cause=cause, times=times)


def _parsed(data: dict[str, Any]) -> Parsed:
    document = _document(_get(data, "document", dict))
    return Parsed(
        document=document,
        chunks=_chunks(_get(data, "chunks", list), document.text),
        extract_seconds=_get(data, "extract_seconds", float),
        chunk_seconds=_get(data, "chunk_seconds", float),
        members=_members(_get(data, "members", list)),
    )


def _members(rows: list[Any]) -> tuple[Member, ...]:
    members = tuple(map(_member, rows))
    for names in (
        [member.path for member in members],
        [member.file for member in members if member.file],
    ):
        if len(set(names)) < len(names):
            raise BadFrame("a member that comes twice")
    return members


def _member(row: Any) -> Member:
    member = Member(
        path=_get(row, "path", str),
        file=_get(row, "file", str),
        code=_optional(row, "code", str),
        message=_optional(row, "message", str),
    )
    if not is_safe_path(member.path):
        raise BadFrame("a member outside of its container")
    if member.code is None and not member.file.isdecimal():
        raise BadFrame("a member whose file is none of ours")
    if member.code is not None and (member.file or member.code not in _CODES):
        raise BadFrame("a member with an unknown error code")
    return member


def _unpacked(data: dict[str, Any]) -> Unpacked:
    skipped = _get(data, "skipped", dict)
    if not all(type(count) is int for count in skipped.values()):
        raise BadFrame("counts that are no numbers")
    return Unpacked(members=_members(_get(data, "unpacked", list)), skipped=skipped)


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
        skipped=_skipped(_optional(data, "skipped", list) or []),
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
    lost = _get(data, "lost", list)
    if not all(type(number) is int for number in lost):
        raise BadFrame("pages without numbers")
    return Coverage(**{name: _get(data, name, int) for name in _COUNTS}, lost=tuple(lost))


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


def _chunks(rows: list[Any], text: str) -> list[Chunk]:
    return [_chunk(row, ordinal, text) for ordinal, row in enumerate(rows)]


def _chunk(row: Any, expected: int, text: str) -> Chunk:
    if not isinstance(row, list) or len(row) != 9:
        raise BadFrame("a chunk with other fields")
    ordinal, token_count, start, end, headings, page, page_end, header, section = row
    numbers = (ordinal, token_count, start, end)
    if any(type(number) is not int for number in numbers) or type(headings) is not list:
        raise BadFrame("a chunk with fields of other types")
    if ordinal != expected or token_count < 0 or not 0 <= start < end <= len(text):
        raise BadFrame("a chunk outside of its text")
    if page is not None and type(page) is not int:
        raise BadFrame("a chunk on no page")
    if page_end is not None and type(page_end) is not int:
        raise BadFrame("a chunk up to no page")
    if page is not None and (page_end is None or page_end < page):
        raise BadFrame("a chunk that ends before its page")
    repeated = _range(header, start)
    return Chunk(
        ordinal=ordinal,
        text=text[start:end] if repeated is None else text[slice(*repeated)] + text[start:end],
        token_count=token_count,
        start=start,
        end=end,
        headings=_strings(headings),
        page=page,
        page_end=page_end,
        repeated_header=repeated,
        section=_range(section, len(text)),
    )


def _range(value: Any, length: int) -> tuple[int, int] | None:
    if value is None:
        return None
    if type(value) is not list or [type(number) for number in value] != [int, int]:
        raise BadFrame("a range that is none")
    start, end = value
    if not 0 <= start <= end <= length:
        raise BadFrame("a range outside of its text")
    return start, end


def _strings(values: list[Any]) -> tuple[str, ...]:
    if not all(type(value) is str for value in values):
        raise BadFrame("a list of other things than strings")
    return tuple(values)


def _get(data: Any, key: str, kind: type[T]) -> T:
    value = data.get(key) if isinstance(data, dict) else None
    if kind is float and type(value) is int:
        return kind(value)  # type: ignore[call-arg]  # some JSON writers write 1.0 as 1
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
