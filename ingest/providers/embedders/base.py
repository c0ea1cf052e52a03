"""What every embedder promises, and the proof that an answer keeps it."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ingest.errors import Permanent
from ingest.model import EmbeddingModel, Vectors


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
        """Unit vectors, (len(texts), dimension). Raises Transient, Permanent or Refused."""
        ...

    async def close(self) -> None: ...


class Refused(Exception):
    """The provider refuses a request for what is in it: some text of it, or its size.

    Whoever catches it halves the request until the text is found. The message names the provider's
    code, never the text.
    """


def unit_vectors(raw: Any, *, count: int, dimension: int) -> Vectors:
    """`raw` as float32 of length 1, proved to be one vector of the dimension for each text.

    Permanent `embedding_mismatch` otherwise: such vectors would be stored beside the wrong text, or
    could not be searched.
    """
    try:
        vectors = np.asarray(raw, np.float32)
    except (TypeError, ValueError):
        raise mismatch("vectors of different lengths") from None
    if vectors.shape != (count, dimension):
        raise mismatch(f"an answer of shape {vectors.shape} instead of {(count, dimension)}")
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(norms).all():
        raise mismatch("numbers that are not finite")
    if not norms.all():
        raise mismatch("a vector of zeros")
    units: Vectors = vectors / norms
    return units


def mismatch(what: str) -> Permanent:
    return Permanent(f"the embedding model returned {what}", code="embedding_mismatch")
