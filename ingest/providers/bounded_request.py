"""HTTP requests to configured providers, whose responses must not fill our memory either."""

from typing import Any

import httpx

_TRANSFER = ("content-encoding", "content-length", "transfer-encoding")


class ResponseTooLarge(httpx.RequestError):
    """The body has more bytes, decoded, than any answer to this request can need."""


async def bounded_request(
    http: httpx.AsyncClient, method: str, url: httpx.URL | str, *, max_bytes: int, **sent: Any
) -> httpx.Response:
    """`http.request`, but a body is read up to `max_bytes` only.

    Raises ResponseTooLarge, and what httpx raises.
    """
    async with http.stream(method, url, **sent) as response:
        body = bytearray()
        async for part in response.aiter_bytes():
            body += part
            if len(body) > max_bytes:
                message = f"the response has more than {max_bytes} bytes"
                raise ResponseTooLarge(message, request=response.request)
        headers = [pair for pair in response.headers.multi_items() if pair[0] not in _TRANSFER]
        return httpx.Response(
            response.status_code,
            headers=headers,
            content=bytes(body),
            request=response.request,
            history=response.history,
        )
