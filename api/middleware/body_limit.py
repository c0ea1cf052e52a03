"""How many bytes of a body are read into memory; streamed bodies have separate limits.

The framework's own limit responds in plain text and before the caller is authenticated.
"""

from collections.abc import Mapping
from typing import Final

from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope

MIB: Final = 1024 * 1024
_MAX_BODY_BYTES: Final = MIB
# The digests of 10,000 files need more; files are streamed.
_LIMITS_BY_ROUTE: Final[Mapping[str, int | None]] = {
    "/upload/check": 8 * MIB,
    "/upload/documents": None,
    "/api/preview": None,
    "/api/session": 4096,  # of callers without a key
}


def limit_body(scope: Scope, receive: Receive, *, path: str) -> Receive:
    """`receive`, which raises a 413 as soon as the body exceeds the limit of the route `path`.

    Bytes are counted as they arrive; Content-Length only makes it fail earlier.
    """
    limit = _LIMITS_BY_ROUTE.get(path, _MAX_BODY_BYTES)
    if limit is None:
        return receive
    if _content_length(scope) > limit:
        raise _too_large(limit)
    seen = 0

    async def counting() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > limit:
            raise _too_large(limit)
        return message

    return counting


def _too_large(limit: int) -> HTTPException:
    return HTTPException(413, f"the body is larger than {limit} bytes")


def _content_length(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value[:20])
    return 0
