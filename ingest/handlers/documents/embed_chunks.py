"""The embed stage, for every handler that has chunks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ingest.errors import Permanent
from ingest.handlers.context import Context, Progress
from ingest.handlers.documents.token_budget import reserved_tokens
from ingest.model import Chunk, Vectors
from ingest.observability import metrics
from ingest.store.documents import documents

EmbeddingLoss = Literal["embedding_rejected", "embedding_mismatch"]
"""Why a text has no vector: the provider refuses it, or gives none that fits."""

# The share of a job's percent that embedding stands for.
_FROM, _TO = 40, 95


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedChunks:
    vectors: Vectors
    embedded: NDArray[np.bool_]
    """Per chunk: False where the provider refused the text."""
    error_code: EmbeddingLoss | None
    """Why chunks have no vector; None: all have one."""
    hashes: Sequence[bytes]
    reused: int
    """How many vectors were known before."""
    tokens_spent: int
    """Tokens of the texts that the provider was asked for."""
    is_cached: bool
    """Whether some are in the cache, which must be emptied when they are stored."""


async def embed_chunks(chunks: Sequence[Chunk], ctx: Context, progress: Progress) -> EmbeddedChunks:
    """Vectors for all chunks; those that the application has for the same text are not paid again.

    Each finished request is kept at once, so that a later failure does not lose it. Raises
    Permanent `embedding_rejected` or `embedding_mismatch` when no text got a vector, and what the
    budget of the application raises (documents/token_budget.py).
    """
    application_id = progress.job.application_id
    hashes = [documents.text_hash(chunk.text) for chunk in chunks]
    vectors = np.zeros((len(chunks), ctx.model.dimension), dtype=np.float32)
    embedded = np.ones(len(chunks), dtype=np.bool_)

    texts = [(application_id, digest) for digest in hashes]
    found = await ctx.loads.vectors.get(texts)
    known = {
        digest: found[text] for text, digest in zip(texts, hashes, strict=True) if text in found
    }
    # An earlier holder may have left some there; attempts are given back, the fence is not.
    is_cached = progress.job.fence > 1
    missing = [index for index, digest in enumerate(hashes) if digest not in known]
    for index, digest in enumerate(hashes):
        if digest in known:
            vectors[index] = known[digest]

    async def keep(indices: Sequence[int], found: Vectors) -> None:
        spent.tokens += sum(chunks[missing[index]].token_count for index in indices)
        # A job of one request loses nothing that the retry would not need to do again anyway.
        if len(indices) == len(missing):
            return
        nonlocal is_cached
        is_cached = True
        async with ctx.pool.connection() as conn:
            await documents.cache_vectors(
                conn,
                application_id=application_id,
                model_id=ctx.model_id,
                hashes=[hashes[missing[index]] for index in indices],
                vectors=found,
            )

    def report(done: int, total: int) -> None:
        progress.reached(_FROM + (_TO - _FROM) * done / max(total, 1))

    error_code: EmbeddingLoss | None = None
    why = ""
    tokens = sum(chunks[index].token_count for index in missing)
    metrics.embeddings_reused(len(chunks) - len(missing))
    if missing:
        async with reserved_tokens(ctx.pool, application_id=application_id, tokens=tokens) as spent:
            answer = await ctx.embedder.embed(
                [chunks[index].text for index in missing],
                [chunks[index].token_count for index in missing],
                on_progress=report,
                on_vectors=keep,
            )
        vectors[missing] = answer.vectors
        embedded[[missing[index] for index in answer.refused]] = False
        if answer.refused:
            error_code = "embedding_mismatch" if answer.unusable else "embedding_rejected"
            why = next(iter(answer.refused.values()))
    if not embedded.any():
        code = error_code or "embedding_rejected"
        raise Permanent(f"the embedding provider refused every chunk: {why}", code=code)
    return EmbeddedChunks(
        vectors=vectors,
        embedded=embedded,
        error_code=error_code,
        hashes=hashes,
        reused=len(chunks) - len(missing),
        tokens_spent=tokens,
        is_cached=is_cached,
    )
