"""An OpenAI-compatible embeddings endpoint that costs only its latency.

    python -m benchmarks.provider.server PORT --latency 0.08 --bytes-per-token 4.6

A request is answered `--latency` seconds after it was read, or with 400 if it has more than 2,048
texts, 300,000 tokens, or a text of more than 8,192 tokens, as at OpenAI. Tokens are estimated from
bytes at the ratio that the caller has measured, with a tolerance of some per cent: tokenising here
would take CPU time from the contestants. Vectors have 256 numbers and length 1 and depend on the
text; they are sent as base64 on request. `GET /counts` returns the counts since `POST /reset`.
"""

import argparse
import asyncio
import base64
import hashlib
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import orjson
import uvicorn

DIMENSION: Final = 256
MOST_TEXTS: Final = 2048
MOST_TOKENS: Final = 300_000
MOST_TOKENS_OF_A_TEXT: Final = 8192
_TOLERANCE: Final = 1.03
_SHIFTS: Final = 2**20

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


@dataclass(slots=True)
class Counts:
    """Counts since the last reset."""

    requests: int = 0
    refused: int = 0
    """Requests that exceeded a limit."""
    texts: int = 0
    """Texts in requests that were answered with vectors."""
    tokens: int = 0
    """Estimated tokens of those texts."""
    under_way: int = 0
    most_under_way: int = 0


class Endpoint:
    """An ASGI application."""

    def __init__(self, *, latency: float, bytes_per_token: float) -> None:
        self._latency = latency
        self._bytes_per_token = bytes_per_token
        self._counts = Counts()
        # A text's vector is a slice of one long array of random numbers: cheap, and different for
        # each.
        self._row = np.random.default_rng(7).standard_normal(_SHIFTS + DIMENSION).astype(np.float32)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        body = await _body(receive)
        status, answer = await self._answer(scope["path"], body)
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(answer))]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": answer})

    async def _answer(self, path: str, body: bytes) -> tuple[int, bytes]:
        if path == "/counts":
            return 200, orjson.dumps(asdict(self._counts))
        if path == "/reset":
            self._counts = Counts()
            return 200, b"{}"
        if path != "/v1/embeddings":
            return 404, b"{}"
        return await self._embeddings(body)

    async def _embeddings(self, body: bytes) -> tuple[int, bytes]:
        started = time.perf_counter()
        counts = self._counts
        counts.requests += 1
        counts.under_way += 1
        counts.most_under_way = max(counts.most_under_way, counts.under_way)
        try:
            status, answer = self._vectors(orjson.loads(body))
            await asyncio.sleep(max(started + self._latency - time.perf_counter(), 0))
        finally:
            counts.under_way -= 1
        return status, answer

    def _vectors(self, request: Any) -> tuple[int, bytes]:
        texts = [request["input"]] if isinstance(request["input"], str) else request["input"]
        contents = [text.encode() for text in texts]
        tokens = sum(map(len, contents)) / self._bytes_per_token
        longest = max(map(len, contents), default=0) / self._bytes_per_token
        if reason := _beyond(texts=len(texts), tokens=tokens, longest=longest):
            self._counts.refused += 1
            return 400, orjson.dumps({"error": {"message": reason, "type": "invalid_request"}})
        self._counts.texts += len(texts)
        self._counts.tokens += round(tokens)
        encode = _as_base64 if request.get("encoding_format") == "base64" else _as_numbers
        data = [
            {"object": "embedding", "index": index, "embedding": encode(self._vector(content))}
            for index, content in enumerate(contents)
        ]
        usage = {"prompt_tokens": round(tokens), "total_tokens": round(tokens)}
        answer = {"object": "list", "data": data, "model": request["model"], "usage": usage}
        return 200, orjson.dumps(answer, option=orjson.OPT_SERIALIZE_NUMPY)

    def _vector(self, content: bytes) -> Any:
        digest = hashlib.blake2b(content, digest_size=8).digest()
        start = int.from_bytes(digest, "big") % _SHIFTS
        vector = self._row[start : start + DIMENSION]
        return vector / np.linalg.norm(vector)


def _beyond(*, texts: int, tokens: float, longest: float) -> str | None:
    if not 1 <= texts <= MOST_TEXTS:
        return f"{texts} texts; 1 to {MOST_TEXTS} are allowed"
    if tokens > MOST_TOKENS * _TOLERANCE:
        return f"{tokens:.0f} tokens in one request; {MOST_TOKENS} are allowed"
    if longest > MOST_TOKENS_OF_A_TEXT * _TOLERANCE:
        return f"a text of {longest:.0f} tokens; {MOST_TOKENS_OF_A_TEXT} are allowed"
    return None


def _as_base64(vector: Any) -> str:
    return base64.b64encode(vector.tobytes()).decode()


def _as_numbers(vector: Any) -> Any:
    return vector


async def _body(receive: Receive) -> bytes:
    parts = bytearray()
    while True:
        message = await receive()
        parts += message.get("body", b"")
        if not message.get("more_body"):
            return bytes(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("--latency", type=float, required=True)
    parser.add_argument("--bytes-per-token", type=float, required=True)
    wanted = parser.parse_args()
    endpoint = Endpoint(latency=wanted.latency, bytes_per_token=wanted.bytes_per_token)
    uvicorn.run(endpoint, port=wanted.port, log_level="warning", lifespan="off")


if __name__ == "__main__":
    main()
