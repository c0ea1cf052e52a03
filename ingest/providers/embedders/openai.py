"""Any OpenAI-compatible embeddings endpoint.

The queue does the retries: here one call is one request. refusals.py interprets errors. Answers are
decoded by hand: most of the 20 lines check what msgspec cannot (one vector per `index`, base64).
"""

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any

import httpx
import numpy as np

from ingest.model import EmbeddingModel, Vectors
from ingest.providers.bounded_request import bounded_request
from ingest.providers.embedders.base import Prefixes, mismatch_error, unit_vectors
from ingest.providers.embedders.refusals import no_answer, not_json, refusal
from ingest.settings.types import InputTypes

_DEFAULT_URL = "https://api.openai.com/v1"
_TIMEOUT = httpx.Timeout(60, connect=10)
# The longest response: of numbers as text, each on a line of its own, and of everything else.
_NUMBER_BYTES = 48
_BODY_BYTES = 1024 * 1024

# Models with high cosines throughout, by name: it costs no request.
_NARROW = re.compile(r"(^|[/_-])e5-(small|base|large)|ada-002", re.IGNORECASE)
_UNRELATED_IF_NARROW = 0.7


class OpenAIEmbedder:
    """Sorts vectors by their `index` and checks them against the request."""

    max_items = 2048
    max_request_tokens = 300_000
    concurrency = 4

    def __init__(
        self,
        model: EmbeddingModel,
        *,
        api_key: str,
        base_url: str | None,
        dimensions: int | None,
        name: str | None = None,
        prefixes: Prefixes = Prefixes(),  # noqa: B008  # frozen
        input_types: InputTypes | None = None,
    ) -> None:
        """`dimensions` and `input_types` are sent only if set: not every endpoint supports them.

        name: the model as the endpoint calls it, if `model.name` says more.
        """
        self.model = model
        self._name = name or model.name
        self.unrelated = _UNRELATED_IF_NARROW if _NARROW.search(self._name) else 0.0
        self._key = api_key
        self._prefixes = prefixes
        self._input_types = input_types
        self.lane: str | None = _lane(f"{model.provider}/{self._name}", api_key, base_url)
        self._options: dict[str, Any] = {} if dimensions is None else {"dimensions": dimensions}
        self._encoding = "base64"
        base = httpx.URL(base_url or _DEFAULT_URL)
        self._url = base.copy_with(path=base.path.rstrip("/") + "/embeddings")
        self._http = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {api_key}"}, timeout=_TIMEOUT, follow_redirects=True
        )

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return await self._embed(texts, is_query=False)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return await self._embed(texts, is_query=True)

    async def close(self) -> None:
        await self._http.aclose()

    async def _embed(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        raw = await self.raw_vectors(texts, is_query=is_query)
        return unit_vectors(raw, count=len(texts), dimension=self.model.dimension)

    async def raw_vectors(self, texts: Sequence[str], *, is_query: bool = False) -> list[Any]:
        """The endpoint's vectors, one per text and in their order; otherwise unchecked."""
        prefix = self._prefixes.query if is_query else self._prefixes.passage
        request = {"model": self._name, "input": [prefix + text for text in texts], **self._options}
        if (types := self._input_types) is not None:
            request[types.field] = types.query if is_query else types.passage
        try:
            response = await bounded_request(
                self._http,
                "POST",
                self._url,
                max_bytes=_BODY_BYTES + len(texts) * self.model.dimension * _NUMBER_BYTES,
                json={**request, "encoding_format": self._encoding},
            )
        except (httpx.HTTPError, httpx.InvalidURL) as error:  # includes timeouts
            raise no_answer(error) from None
        if not response.is_success:
            if self._encoding == "base64" and _is_about_encoding(response):
                self._encoding = "float"
                return await self.raw_vectors(texts, is_query=is_query)
            raise refusal(response, texts=texts, key=self._key, model=self._name)
        try:
            answer = json.loads(response.content)
        except ValueError:
            raise not_json(response) from None
        return _in_order(answer, len(texts))


def _lane(model: str, api_key: str, base_url: str | None) -> str:
    """Name of the rate-limit lane: one per model, key and endpoint.

    So pausing one leaves the others running.
    """
    lane = f"{model}#{_digest(api_key)}"
    return lane if base_url is None else f"{lane}@{_digest(base_url)}"


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()[:8]


def _is_about_encoding(response: httpx.Response) -> bool:
    return response.status_code in (400, 422) and "encoding_format" in response.text


def _in_order(answer: Any, count: int) -> list[Any]:
    """Sort the vectors by `index`, which must name each text once."""
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or len(data) != count:
        raise mismatch_error("a different number of vectors than texts")
    vectors: list[Any] = [None] * count
    for position, item in enumerate(data):
        index = item.get("index", position) if isinstance(item, dict) else None
        if not isinstance(index, int) or not 0 <= index < count or vectors[index] is not None:
            raise mismatch_error("vectors that do not name their texts")
        vectors[index] = _numbers(item.get("embedding"))
    return vectors


def _numbers(embedding: Any) -> Any:
    if not isinstance(embedding, str):
        return [] if embedding is None else embedding
    try:
        return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4")
    except ValueError:
        raise mismatch_error("a vector that is neither base64 nor numbers") from None
