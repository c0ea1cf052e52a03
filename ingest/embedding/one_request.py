"""Single requests to the embedder, counted; and a health check with a harmless text."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ingest.errors import IngestError, Transient
from ingest.model import Vectors
from ingest.observability import metrics, tracing
from ingest.providers.embedders.base import (
    Embedder,
    Misaligned,
    ProviderFault,
    QueryEmbedder,
    Refused,
    mismatch_error,
    shape_error,
)

_HARMLESS: Final = "ping"


@dataclass(slots=True)
class RequestCounts:
    """Counts for this process."""

    calls: int = 0
    texts: int = 0
    """Texts that got a vector."""
    tokens: int = 0
    """Tokens of those texts."""
    rate_limited: int = 0
    """Calls that the provider refused for its rate limit."""


class EmbeddingCalls:
    """Sends single requests, without regard to lanes."""

    def __init__(self, embedder: Embedder) -> None:
        self.counts = RequestCounts()
        self._embedder = embedder

    @property
    def dimension(self) -> int:
        return self._embedder.model.dimension

    async def ask(
        self,
        texts: Sequence[str],
        tokens: int,
        *,
        is_query: bool = False,
        parents: Sequence[str | None] | None = None,
    ) -> Vectors:
        """Send one request. `parents`: the spans it serves, if not the current one.

        Raises the errors of the embedder, and Misaligned.
        """
        self.counts.calls += 1
        started = time.monotonic()
        outcome = "internal"
        try:
            with tracing.client_span("embed", {"texts": len(texts)}, parents=parents):
                vectors = await self._embed(texts, is_query=is_query)
            _check_vectors(vectors, (len(texts), self._embedder.model.dimension))
            outcome = "ok"
        except Refused:
            outcome = "refused"
            raise
        except IngestError as error:
            outcome = getattr(error, "code", outcome)
            self.counts.rate_limited += outcome == "rate_limited"
            raise
        finally:
            known = {"texts": len(texts), "tokens": tokens} if outcome == "ok" else {}
            metrics.embedding_call(outcome, seconds=time.monotonic() - started, **known)
        self.counts.texts += len(texts)
        self.counts.tokens += tokens
        return vectors

    async def _embed(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        if is_query and isinstance(self._embedder, QueryEmbedder):
            return await self._embedder.embed_queries(texts)
        return await self._embedder.embed(texts)

    async def fault(self) -> Transient | None:
        """Embed a harmless text as a probe; returns the error, or None if the provider works."""
        try:
            # No short timeout: a server that is loading its model is not down.
            await self.ask([_HARMLESS], 1)
        except Refused:
            return None  # a refusal proves that the provider works
        except Misaligned as error:
            return unusable(error)
        except Transient as error:
            return error
        return None


def unusable(error: Misaligned) -> ProviderFault:
    """Return the error for a provider whose responses are malformed whatever the text."""
    return ProviderFault(str(error), code="embedding_mismatch")


def _check_vectors(vectors: Vectors, shape: tuple[int, int]) -> None:
    if vectors.shape != shape:
        raise shape_error(vectors.shape, count=shape[0], dimension=shape[1])
    if not np.isfinite(vectors).all():
        raise mismatch_error("numbers that are not finite")
