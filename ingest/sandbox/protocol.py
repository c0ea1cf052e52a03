"""The protocol between parent and parser process: length-prefixed JSON frames.

JSON with a hand-written codec, not pickle: a file that has taken over a parser can then lie, but
not run code in the parent. replies.py checks a child's answers field by field.
"""

import struct
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple

import orjson

from ingest.errors import IsArchive, Permanent, Transient
from ingest.model import Chunk, ChunkSettings, Document, OcrSettings, Page, SkippedStep
from ingest.sandbox.messages import (
    Answer,
    Checked,
    CheckRequest,
    Located,
    LocateRequest,
    Parsed,
    ParseRequest,
    RechunkRequest,
    Rendered,
    RenderRequest,
    Request,
    SitemapRead,
    SitemapRequest,
    StartOptions,
    Unpacked,
    UnpackRequest,
)
from ingest.storable_text import clean_line

LENGTH = struct.Struct(">I")
MAX_FRAME = 512 * 1024 * 1024
"""Bytes; longer frames are refused."""
MAX_FORK_MESSAGE = 64 * 1024
"""Bytes of a message to or from the fork server."""
MAX_MESSAGE = 500
"""Characters; longer error messages are cut."""
NOTE = b'{"stage":'
"""Start of a progress frame, which names the current stage; the answer follows later."""
NOTE_SECONDS = 0.1
"""Between two of them about the same stage, so that they cost the parent nothing."""


class ChunkRow(NamedTuple):
    """A chunk without its text, which is a slice of the document's; fields as in model.Chunk."""

    ordinal: int
    token_count: int
    start: int
    end: int
    headings: tuple[str, ...]
    page: int | None
    page_end: int | None
    repeated_header: tuple[int, int] | None
    section: tuple[int, int] | None
    words: bytes
    grams: bytes
    sections: tuple[tuple[int, int, str], ...]


_KINDS: dict[str, type[Request]] = {
    "parse": ParseRequest,
    "unpack": UnpackRequest,
    "rechunk": RechunkRequest,
    "sitemap": SitemapRequest,
    "render": RenderRequest,
    "locate": LocateRequest,
    "check": CheckRequest,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def frame(value: dict[str, Any]) -> bytes:
    """Prefix a message with its length. Raises Permanent `too_large` above MAX_FRAME."""
    body = orjson.dumps(value)
    if len(body) > MAX_FRAME:
        raise Permanent("The file contains too much text.", code="too_large")
    return LENGTH.pack(len(body)) + body


def note(stage: str) -> bytes:
    """A progress frame, which restarts the timeout; `stage` is the current stage."""
    return frame({"stage": stage})


def encode_start(options: StartOptions) -> str:
    """Encode the only argument of a parser process."""
    return orjson.dumps(options).decode()


def decode_start(argument: str) -> StartOptions:
    """Decode it; not checked, as the parent is trusted."""
    return StartOptions(**orjson.loads(argument))


def encode_request(request: Request, *, cpu_seconds: float, number: int) -> bytes:
    """Encode a request as a frame. `number`: of the request, which its answer repeats."""
    fields: Any = request
    if isinstance(request, ParseRequest | UnpackRequest) and not request.name.isascii():
        # JSON cannot hold lone surrogates.
        fields = replace(request, name=request.name.encode("utf-8", "replace").decode())
    elif isinstance(request, LocateRequest) and request.words is not None:
        fields = {**asdict(request), "words": b64encode(request.words).decode()}
    head = {"kind": _NAMES[type(request)], "cpu_seconds": cpu_seconds, "number": number}
    return frame({**head, "request": fields})


def decode_request(body: bytes) -> tuple[int, float, Request]:
    """Number, CPU seconds and request; not checked, as the parent is trusted."""
    data = orjson.loads(body)
    fields = data["request"]
    if "chunk" in fields:
        furniture = tuple(map(tuple, fields["chunk"].pop("furniture")))
        fields["chunk"] = ChunkSettings(furniture=furniture, **fields["chunk"])
    if "pages" in fields:
        fields["pages"] = tuple(Page(**page) for page in fields["pages"])
    if "ranges" in fields:
        fields["ranges"] = tuple(map(tuple, fields["ranges"]))
    if fields.get("words") is not None:
        fields["words"] = b64decode(fields["words"])
    if fields.get("ocr"):
        languages = tuple(fields["ocr"].pop("languages"))
        fields["ocr"] = OcrSettings(languages=languages, **fields["ocr"])
    return data["number"], data["cpu_seconds"], _KINDS[data["kind"]](**fields)


def encode_answer(
    answer: Answer, *, resident: int, number: int, skipped: Sequence[SkippedStep] = ()
) -> bytes:
    """Encode a success."""
    if isinstance(answer, Parsed):
        value: dict[str, Any] = {
            "kind": "parsed",
            "document": _fields(answer.document),
            "chunks": [_row(piece) for piece in answer.chunks],
            "extract_seconds": answer.extract_seconds,
            "chunk_seconds": answer.chunk_seconds,
            "members": answer.members,
        }
    elif isinstance(answer, Unpacked):
        value = {
            "kind": "unpacked",
            "members": answer.members,
            "skipped": answer.skipped,
        }
    elif isinstance(answer, SitemapRead):
        value = {"kind": "sitemap_read", "sitemap": answer.sitemap}
    elif isinstance(answer, Rendered):
        value = {
            "kind": "rendered",
            "png": b64encode(answer.png).decode(),
            "width": answer.width,
            "height": answer.height,
        }
    elif isinstance(answer, Located):
        value = {"kind": "located", **asdict(answer)}
    elif isinstance(answer, Checked):
        value = {"kind": "checked", **asdict(answer)}
    else:
        value = {
            "kind": "rechunked",
            "chunks": [_row(piece) for piece in answer.chunks],
            "language": answer.language,
        }
    return frame({**value, "skipped_steps": skipped, "resident": resident, "number": number})


def encode_failure(
    error: Permanent | Transient, *, resident: int, number: int, skipped: Sequence[SkippedStep] = ()
) -> bytes:
    """Encode a failure as a frame."""
    return frame(
        {
            "kind": "failure",
            "code": error.code,
            # Messages may quote the file, with characters that JSON or the database refuse.
            "message": (clean_line(str(error)) or "")[:MAX_MESSAGE],
            "is_transient": isinstance(error, Transient),
            "is_archive": isinstance(error, IsArchive),
            "skipped_steps": skipped,
            "resident": resident,
            "number": number,
        }
    )


def _fields(document: Document) -> Document | dict[str, Any]:
    """What `frame` makes the object of: it reads data classes, which hold no bytes."""
    if not document.page_words:
        return document
    words = [
        {"page": words.page, "packed": b64encode(words.packed).decode()}
        for words in document.page_words
    ]
    return {**asdict(document), "page_words": words}


def _row(chunk: Chunk) -> list[Any]:
    values = (getattr(chunk, name) for name in ChunkRow._fields)
    return [b64encode(value).decode() if isinstance(value, bytes) else value for value in values]
