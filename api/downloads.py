"""Stored bytes as downloads: of any size, in ranges, and rendered by no browser."""

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import PurePosixPath
from typing import Any, Final
from urllib.parse import quote

from fastapi.responses import Response, StreamingResponse

from api.problems import problem
from api.schema.openapi import problems
from ingest.blobs.base import BlobStore
from ingest.errors import NotStored
from ingest.store.documents.originals import Original

_RANGE: Final = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")
_LONGEST_NAME: Final = 200
# Types that no browser runs. All others, as HTML and SVG, are bytes without a meaning.
_INERT: Final = re.compile(
    r"application/(pdf|json|zip|msword|rtf|vnd\.(openxmlformats|oasis|ms-(excel|powerpoint))[\w.+-]*)"
    r"|image/(png|jpeg|gif|webp|bmp|tiff)|text/(plain|csv|markdown|tab-separated-values)"
)
_OCTETS: Final = "application/octet-stream"
_BYTES: Final = {"*/*": {"schema": {"type": "string", "format": "binary"}}}

RESPONSES: Final[dict[int | str, dict[str, Any]]] = {
    200: {"content": _BYTES},
    206: {"description": "The requested range", "content": _BYTES},
    304: {"description": "Unchanged"},
    **problems(410, 416),
}


async def download(
    blobs: BlobStore,
    original: Original,
    *,
    requested: str | None,
    if_range: str | None,
    if_none_match: str | None,
) -> Response:
    """The bytes, whole or the range of the header `Range`. Raises NotStored and BlobMissing."""
    if original.blob_key is None or original.size_bytes is None:
        raise NotStored("the bytes of this document")
    size = original.size_bytes
    headers = _headers(original)
    if if_none_match is not None and headers["ETag"] in if_none_match:
        return Response(status_code=304, headers=headers)
    part = None if if_range not in (None, headers["ETag"]) else _part(requested, size)
    if part is not None and not part:
        return problem(
            416,
            code="range_outside_file",
            detail=f"the file has {size} bytes",
            headers={"Content-Range": f"bytes */{size}"},
        )
    start, end = (0, size) if part is None else (part.start, part.stop)
    if part is not None:
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    headers["Content-Length"] = str(end - start)
    blocks = blobs.read(original.blob_key, start=start, end=end)
    # The first block now: a blob that is missing must not be a 200.
    first = await anext(blocks, b"")
    return StreamingResponse(
        _from(first, blocks), status_code=200 if part is None else 206, headers=headers
    )


async def _from(first: bytes, blocks: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    async with aclosing(blocks):
        yield first
        async for block in blocks:
            yield block


def _part(requested: str | None, size: int) -> range | None:
    """The bytes of a single range, empty if it is outside of the file; None: all, as of several
    ranges and of what is no range."""
    found = _RANGE.fullmatch((requested or "").replace(" ", ""))
    if found is None or found[0] == "bytes=-":
        return None
    first, last = found[1], found[2]
    if not first:
        return range(max(0, size - int(last)), size)
    if last and int(last) < int(first):
        return None
    return range(int(first), min(int(last) + 1, size) if last else size)


def _headers(found: Original) -> dict[str, str]:
    inert = _INERT.fullmatch(found.media_type)
    name = PurePosixPath(found.uri).name[-_LONGEST_NAME:] or "file"
    plain = re.sub(r"[^ !#-\[\]-~]", "_", name)
    return {
        "Content-Type": found.media_type if inert else _OCTETS,
        # The name and the bytes come from an untrusted file: no browser may render it as ours.
        "Content-Disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name)}",
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "ETag": f'"{found.content_hash.hex()}"',
        "Accept-Ranges": "bytes",
    }
