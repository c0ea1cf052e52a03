"""Single requests to the embedder, counted; and the harmless one that shows whether it works."""

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
    Refused,
    mismatch,
    misshapen,
)

_HARMLESS: Final = "ping"


@dataclass(slots=True)
class RequestCounts:
    """Of this process."""

    calls: int = 0
    texts: int = 0
    """That got a vector."""
    tokens: int = 0
    """Of those texts."""
    rate_limited: int = 0
    """Calls that the provider wants to have later."""


class EmbeddingCalls:
    """Each is one request. Knows nothing of lanes."""

    def __init__(self, embedder: Embedder) -> None:
        self.counts = RequestCounts()
        self._embedder = embedder

    @property
    def dimension(self) -> int:
        return self._embedder.model.dimension

    async def ask(
        self, texts: Sequence[str], tokens: int, *, parents: Sequence[str | None] | None = None
    ) -> Vectors:
        """One request. `parents`: the spans for which it is sent, if not the current one.

        Raises what the embedder does, and Misaligned.
        """
        self.counts.calls += 1
        started = time.monotonic()
        outcome = "internal"
        try:
            with tracing.client_span("embed", {"texts": len(texts)}, parents=parents):
                vectors = await self._embedder.embed(texts)
            _prove(vectors, (len(texts), self._embedder.model.dimension))
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

    async def fault(self) -> Transient | None:
        """Why the provider does not even serve a harmless text; None: it does."""
        try:
            # It may take as long as any: a server that is loading its model is not down.
            await self.ask([_HARMLESS], 1)
        except Refused:
            return None  # it is there, and it has an opinion
        except Misaligned as error:
            return unusable(error)
        except Transient as error:
            return error
        return None


def unusable(error: Misaligned) -> ProviderFault:
    """Of a provider that answers so whatever it is asked for."""
    return ProviderFault(str(error), code="embedding_mismatch")


def _prove(vectors: Vectors, shape: tuple[int, int]) -> None:
    if vectors.shape != shape:
        raise misshapen(vectors.shape, count=shape[0], dimension=shape[1])
    if not np.isfinite(vectors).all():
        raise mismatch("numbers that are not finite")
