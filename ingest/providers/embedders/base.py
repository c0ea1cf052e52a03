"""What every embedder promises, and the proof that an answer keeps it."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final, Protocol

import numpy as np

from ingest.errors import ErrorCode, Permanent, Transient
from ingest.model import EmbeddingModel, Vectors

# Only the operator can mend these: another attempt a second later will not succeed either.
_LASTING: Final = frozenset(
    {
        "embedding_unauthorized",
        "embedding_model_missing",
        "embedding_quota",
        "embedding_mismatch",
    }
)


class Embedder(Protocol):
    model: EmbeddingModel
    max_items: int
    """Most texts in a request."""
    max_request_tokens: int
    """Most tokens in a request, over all of its texts."""
    concurrency: int
    """Requests that may be under way at once."""
    lane: str | None
    """What the provider's rate limits apply to; None: it runs in this process."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, (len(texts), dimension). Raises Transient, Misaligned or Refused."""
        ...

    async def close(self) -> None: ...


class Refused(Exception):
    """The provider refuses a request for what is in it: some text of it, or its size.

    Whoever catches it halves the request until the text is found. The message names the provider's
    code, never the text.
    """


class Misaligned(Permanent):
    """The answer is not one vector of the model's dimension for each text, so none of it is used.

    Whoever catches it sends the request again, then halves it until the text is found.
    """

    def __init__(self, message: str, *, dimension: int | None = None) -> None:
        """`dimension`: the one that all vectors have, if that is all that is wrong."""
        super().__init__(message, code="embedding_mismatch")
        self.dimension = dimension


class ProviderFault(Transient):
    """The provider does not serve the request. The message holds no key and no text."""

    def __init__(
        self,
        message: str,
        *,
        code: ErrorCode,
        status: int | None = None,
        retry_after: timedelta | None = None,
    ) -> None:
        """`status`: of the HTTP answer, if there was one."""
        super().__init__(f"the embedding provider: {message}", code=code, retry_after=retry_after)
        self.status = status

    @property
    def is_lasting(self) -> bool:
        """Whether it takes an operator to mend it."""
        return self.code in _LASTING

    @property
    def may_be_the_texts(self) -> bool:
        """Whether a text of the request may be to blame: gateways and servers fail on some."""
        is_vague = self.code == "embedding_unavailable" and self.retry_after is None
        return is_vague or self.status == 403


def unit_vectors(raw: Any, *, count: int, dimension: int) -> Vectors:
    """`raw` as float32 of length 1, proved to be one vector of the dimension for each text.

    Misaligned otherwise: such vectors would be stored beside the wrong text, or could not be
    searched.
    """
    try:
        vectors = np.asarray(raw, np.float32)
    except (TypeError, ValueError):
        raise Misaligned("the embedding model returned vectors of different lengths") from None
    if vectors.shape != (count, dimension):
        raise misshapen(vectors.shape, count=count, dimension=dimension)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(norms).all():
        raise mismatch("numbers that are not finite")
    if not norms.all():
        raise mismatch("a vector of zeros")
    units: Vectors = vectors / norms
    return units


def mismatch(what: str) -> Misaligned:
    return Misaligned(f"the embedding model returned {what}")


def misshapen(shape: tuple[int, ...], *, count: int, dimension: int) -> Misaligned:
    """For an answer whose array has this shape."""
    if len(shape) == 2 and shape[0] == count and shape[1] > 0:
        what = f"vectors of {shape[1]} dimensions instead of {dimension}"
        return Misaligned(f"the embedding model returned {what}", dimension=shape[1])
    return mismatch(f"an answer of shape {shape} instead of {(count, dimension)}")
