"""Any OpenAI-compatible embeddings endpoint.

Retries are the queue's: here one call is one request. Messages carry status and error code, never
the key and never what the provider says in words, as that may quote the text.
"""

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NoReturn

import httpx
import numpy as np
import openai

from ingest.errors import Transient
from ingest.model import EmbeddingModel, Vectors
from ingest.providers.embedders.base import Refused, mismatch, unit_vectors
from ingest.providers.retry_after import retry_after

_TIMEOUT = httpx.Timeout(60, connect=10)
# A wrong key or model name is for the operator to mend. Failing jobs for good would make a typo
# cost a whole upload; so they wait, long enough not to burn their attempts meanwhile.
_OPERATOR_WAIT = timedelta(minutes=10)
_OPERATOR_STATUS = {
    401: "the key is not accepted",
    403: "the key is not allowed to do this",
    404: "there is no such model or address",
}
_CONTENT_STATUS = frozenset({400, 413, 422})
_PLAIN_CODE = re.compile(r"[a-z0-9_]{1,50}")


class OpenAIEmbedder:
    """Answers are put in the order of their `index` and proved against what was asked."""

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
    ) -> None:
        """`dimensions` is sent along only when set: not every endpoint knows it."""
        self.model = model
        digest = hashlib.sha256(api_key.encode()).hexdigest()
        self.lane: str | None = f"{model.provider}/{model.name}#{digest[:8]}"
        self._options: dict[str, Any] = {} if dimensions is None else {"dimensions": dimensions}
        self._encoding = "base64"
        http = httpx.AsyncClient(timeout=_TIMEOUT, follow_redirects=True)
        self._client = openai.AsyncOpenAI(
            api_key=api_key,
            base_url=base_url,
            max_retries=0,
            http_client=http,  # type: ignore[arg-type]  # typed as httpx2, takes httpx as well
        )

    async def embed(self, texts: Sequence[str]) -> Vectors:
        raw = await self.raw_vectors(texts)
        return unit_vectors(raw, count=len(texts), dimension=self.model.dimension)

    async def close(self) -> None:
        await self._client.close()

    async def raw_vectors(self, texts: Sequence[str]) -> list[Any]:
        """As the endpoint gives them, one for each text and in their order, nothing else proved."""
        try:
            content = await self._request(texts)
        except openai.APIStatusError as error:
            if self._encoding == "base64" and _is_about_encoding(error):
                self._encoding = "float"
                return await self.raw_vectors(texts)
            _raise_for(error)
        except openai.APIConnectionError as error:  # includes time-outs
            raise _unavailable(f"no answer ({type(error).__name__})") from None
        try:
            answer = json.loads(content)
        except ValueError:
            raise _unavailable("the answer is not JSON") from None
        return _in_order(answer, len(texts))

    async def _request(self, texts: Sequence[str]) -> bytes:
        response = await self._client.embeddings.with_raw_response.create(
            model=self.model.name,
            input=list(texts),
            encoding_format="base64" if self._encoding == "base64" else "float",
            **self._options,
        )
        return response.content


def _raise_for(error: openai.APIStatusError) -> NoReturn:
    status, wait = error.status_code, retry_after(error.response.headers)
    code = error.code if _PLAIN_CODE.fullmatch(str(error.code)) else None
    said = f"HTTP {status}" + (f" ({code})" if code else "")
    if status in _CONTENT_STATUS:
        raise Refused(said) from None
    if status == 429:
        if wait is None and code == "insufficient_quota":
            wait = _OPERATOR_WAIT
        message = f"the embedding provider limits the rate: {said}"
        raise Transient(message, code="rate_limited", retry_after=wait) from None
    if status in _OPERATOR_STATUS:
        raise _unavailable(f"{_OPERATOR_STATUS[status]}: {said}", _OPERATOR_WAIT) from None
    raise _unavailable(said, wait) from None


def _unavailable(what: str, wait: timedelta | None = None) -> Transient:
    return Transient(
        f"the embedding provider: {what}", code="embedding_unavailable", retry_after=wait
    )


def _is_about_encoding(error: openai.APIStatusError) -> bool:
    return error.status_code in _CONTENT_STATUS and "encoding_format" in error.response.text


def _in_order(answer: Any, count: int) -> list[Any]:
    """The vectors by `index`, which has to name each text once."""
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or len(data) != count:
        raise mismatch("another number of vectors than texts")
    vectors: list[Any] = [None] * count
    for position, item in enumerate(data):
        index = item.get("index", position) if isinstance(item, dict) else None
        if not isinstance(index, int) or not 0 <= index < count or vectors[index] is not None:
            raise mismatch("vectors that do not name their texts")
        vectors[index] = _numbers(item.get("embedding"))
    return vectors


def _numbers(embedding: Any) -> Any:
    if not isinstance(embedding, str):
        return [] if embedding is None else embedding
    try:
        return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4")
    except ValueError:
        raise mismatch("a vector that is neither base64 nor numbers") from None
