"""A reranking endpoint in the form of Jina and Cohere (also vLLM, Infinity, LiteLLM) or of TEI."""

import asyncio
import hashlib
import json
import math
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

import httpx

from ingest.errors import ErrorCode, Transient
from ingest.providers.bounded_request import bounded_request
from ingest.providers.retry_after import retry_after

_MOST_BYTES: Final = 64 * 1024
# Some endpoints return the texts too.
_BYTES_PER_CHARACTER: Final = 8


class RerankFault(Transient):
    """The endpoint gave no usable answer; `status` is None without a response."""

    def __init__(
        self, message: str, *, status: int | None = None, wait: timedelta | None = None
    ) -> None:
        code: ErrorCode = "rate_limited" if status == 429 else "rerank_unavailable"
        super().__init__(message, code=code, retry_after=wait)
        self.status = status

    @property
    def needs_operator(self) -> bool:
        """Whether the next request is certain to fail too."""
        return self.status in (401, 402, 403, 404, 405, 410)


class Reranker:
    """Scores texts by how well they answer a query. One call is one request, without retries."""

    def __init__(self, url: str, *, key: str | None, model: str | None, timeout: timedelta) -> None:
        """`model` None: the endpoint has one model, and the form of TEI."""
        self._url = url
        self._model = model
        self._http = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {key}"} if key else None,
            timeout=timeout.total_seconds(),
        )
        self._timeout = timeout.total_seconds()
        secret = hashlib.sha256(f"{url} {key}".encode()).hexdigest()[:8]
        self.lane = f"rerank/{model or ''}#{secret}"

    async def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """A score per text, higher is better. Raises RerankFault."""
        body: dict[str, Any] = {"query": query, "texts": list(texts), "truncate": True}
        if self._model is not None:
            body = {"model": self._model, "query": query, "documents": list(texts)}
        characters = len(query) + sum(map(len, texts))
        try:
            # httpx limits each step only; an endpoint may send a byte at a time.
            async with asyncio.timeout(self._timeout):
                response = await bounded_request(
                    self._http,
                    "POST",
                    self._url,
                    max_bytes=_MOST_BYTES + _BYTES_PER_CHARACTER * characters,
                    json=body,
                )
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
            raise RerankFault(f"no response ({type(error).__name__})") from None
        if not response.is_success:
            raise RerankFault(
                f"HTTP {response.status_code}",
                status=response.status_code,
                wait=retry_after(response.headers),
            )
        return _scores(response, len(texts))

    async def close(self) -> None:
        await self._http.aclose()


def _scores(response: httpx.Response, count: int) -> list[float]:
    try:
        answer = json.loads(response.content)
    except (ValueError, RecursionError):
        raise RerankFault("the response is not JSON", status=response.status_code) from None
    if isinstance(answer, dict):
        answer = answer.get("results", answer.get("data"))
    if not isinstance(answer, list) or len(answer) != count:
        raise RerankFault("a different number of scores than texts", status=response.status_code)
    scores: list[float | None] = [None] * count
    for item in answer:
        index = item.get("index") if isinstance(item, dict) else None
        if type(index) is not int or not 0 <= index < count or scores[index] is not None:
            raise RerankFault("scores that do not name their texts", status=response.status_code)
        score = item.get("relevance_score", item.get("score"))
        if isinstance(score, bool) or not isinstance(score, int | float) or not _is_finite(score):
            raise RerankFault("scores that are not numbers", status=response.status_code)
        scores[index] = float(score)
    return [score for score in scores if score is not None]


def _is_finite(score: float) -> bool:
    try:
        return math.isfinite(score)
    except OverflowError:  # an integer beyond any float
        return False
