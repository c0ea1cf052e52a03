"""The interface of embedders, and the validation of their responses."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np

from ingest.errors import ErrorCode, Permanent, Transient
from ingest.model import EmbeddingModel, Vectors

# Only the operator can fix errors with these codes: a retry a second later fails too.
_NEEDS_OPERATOR: Final = frozenset(
    {
        "embedding_unauthorized",
        "embedding_model_missing",
        "embedding_quota",
        "embedding_mismatch",
    }
)


@runtime_checkable
class Embedder(Protocol):
    model: EmbeddingModel
    max_items: int
    """Maximum number of texts per request."""
    max_request_tokens: int
    """Maximum number of tokens per request, over all texts."""
    concurrency: int
    """Maximum number of concurrent requests."""
    lane: str | None
    """Identifies what the provider's rate limits apply to; None: it runs in this process."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, (len(texts), dimension). Raises Transient, Misaligned or Refused."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefixes:
    """What is put before a text; empty: nothing."""

    query: str = ""
    passage: str = ""


@runtime_checkable
class QueryEmbedder(Protocol):
    """An Embedder whose model wants questions marked as such, by a prefix or an input type."""

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """As Embedder.embed, which is then for passages."""
        ...


@runtime_checkable
class NarrowEmbedder(Protocol):
    """An Embedder whose vectors all have much the same direction, such as those of E5."""

    unrelated: float
    """About the cosine of texts that have nothing in common, below 1."""


class Refused(Exception):
    """The provider refuses a request because of its content: one of its texts, or its size.

    The caller halves the request until it finds the text. The message holds the provider's code,
    never the text.
    """


class Misaligned(Permanent):
    """The response lacks one vector of the model's dimension per text; all of it is discarded.

    The caller sends the request again, then halves it until it finds the text.
    """

    def __init__(self, message: str, *, dimension: int | None = None) -> None:
        """`dimension`: the dimension of all vectors, if nothing else is wrong."""
        super().__init__(message, code="embedding_mismatch")
        self.dimension = dimension


class ProviderFault(Transient):
    """The provider failed to serve the request. The message holds no key and no text."""

    def __init__(
        self,
        message: str,
        *,
        code: ErrorCode,
        status: int | None = None,
        retry_after: timedelta | None = None,
    ) -> None:
        """`status`: the HTTP status, if there was a response."""
        super().__init__(f"the embedding provider: {message}", code=code, retry_after=retry_after)
        self.status = status

    @property
    def needs_operator(self) -> bool:
        """Whether only an operator can fix it."""
        return self.code in _NEEDS_OPERATOR

    @property
    def may_be_caused_by_text(self) -> bool:
        """Whether a text of the request may be the cause: gateways and servers fail on some."""
        is_vague = self.code == "embedding_unavailable" and self.retry_after is None
        return is_vague or self.status == 403


UNRELATED: Final = (
    "How is bread baked?",
    "When does the train to the coast leave?",
    "Which court decides on appeals?",
    "What causes a fever in small children?",
    "How are steel beams welded?",
    "Who painted the ceiling of the chapel?",
    "Where do whales spend the winter?",
    "How do I reset my password?",
)


def mean_cosine(vectors: Vectors) -> float:
    """The mean cosine of different texts, 0 to 0.9: what NarrowEmbedder.unrelated is.

    vectors: (texts, dimension), of any length.
    """
    units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    count = len(units)
    mean = (float((units @ units.T).sum()) - count) / (count * (count - 1))
    return min(max(mean, 0.0), 0.9) if np.isfinite(mean) else 0.0


def unit_vectors(raw: Any, *, count: int, dimension: int) -> Vectors:
    """Convert `raw` to float32 unit vectors; there must be one of `dimension` per text.

    Raises Misaligned otherwise: such vectors could be stored with the wrong text, or be
    unsearchable.
    """
    try:
        vectors = np.asarray(raw, np.float32)
    except (TypeError, ValueError):
        raise Misaligned("the embedding model returned vectors of different lengths") from None
    if vectors.shape != (count, dimension):
        raise shape_error(vectors.shape, count=count, dimension=dimension)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(norms).all():
        raise mismatch_error("numbers that are not finite")
    if not norms.all():
        raise mismatch_error("a vector of zeros")
    units: Vectors = vectors / norms
    return units


def mismatch_error(what: str) -> Misaligned:
    return Misaligned(f"the embedding model returned {what}")


def shape_error(shape: tuple[int, ...], *, count: int, dimension: int) -> Misaligned:
    """Return the error for a response of this array shape."""
    if len(shape) == 2 and shape[0] == count and shape[1] > 0:
        what = f"vectors of {shape[1]} dimensions instead of {dimension}"
        return Misaligned(f"the embedding model returned {what}", dimension=shape[1])
    return mismatch_error(f"a response of shape {shape} instead of {(count, dimension)}")
