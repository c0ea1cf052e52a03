"""The embed stage, for every handler that has chunks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ingest.analysis.subject import Subject, context_line
from ingest.errors import Permanent
from ingest.handlers.context import Context, Progress
from ingest.model import Chunk, EmbeddingModel, Vectors
from ingest.observability import metrics
from ingest.postgres.database import transaction
from ingest.store.documents import documents

EmbeddingLoss = Literal["embedding_rejected", "embedding_mismatch"]
"""Why a text has no vector: the provider refuses it, or returns no usable vector."""

# Embedding moves a job's percent from the first value to the second.
_FROM, _TO = 40, 95
# An estimate that is rather too high.
_BYTES_PER_TOKEN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedChunks:
    vectors: Vectors
    embedded: NDArray[np.bool_]
    """Per chunk: False where the provider refused the text."""
    error_code: EmbeddingLoss | None
    """Why some chunks have no vector; None: all have one."""
    hashes: Sequence[bytes]
    reused: int
    """Number of vectors that were already stored."""
    tokens_spent: int
    """Tokens of the texts sent to the provider, each with its line of context."""
    tokens_saved: int
    """Tokens of the texts whose vectors were already stored."""
    is_cached: bool
    """Whether the cache may hold some of the vectors; drop them there when they are stored."""


async def embed_chunks(
    chunks: Sequence[Chunk], subjects: Iterable[Subject], ctx: Context, progress: Progress
) -> EmbeddedChunks:
    """Embed all chunks, each with a line in front that says what it is about (`subjects`).

    Texts for which the application has a vector are not sent again.

    Each finished request is cached at once, so that a later failure does not lose it. Raises
    Permanent `embedding_rejected` or `embedding_mismatch` if no text got a vector, and the errors
    of the application's token budget (documents/token_budget.py).
    """
    application_id = progress.job.application_id
    texts_and_tokens = [
        _embedded(chunk, subject, ctx.model)
        for chunk, subject in zip(chunks, subjects, strict=False)
    ]
    hashes = [documents.text_hash(text) for text, _ in texts_and_tokens]
    vectors = np.zeros((len(chunks), ctx.model.dimension), dtype=np.float32)
    embedded = np.ones(len(chunks), dtype=np.bool_)

    texts = [(application_id, digest) for digest in hashes]
    found = await ctx.lookups.vectors.get(texts)
    known = {
        digest: found[text] for text, digest in zip(texts, hashes, strict=True) if text in found
    }
    # An earlier attempt may have cached some. The fence also counts refunded attempts.
    is_cached = progress.job.fence > 1
    missing = [index for index, digest in enumerate(hashes) if digest not in known]
    for index, digest in enumerate(hashes):
        if digest in known:
            vectors[index] = known[digest]

    async def cache(indices: Sequence[int], found: Vectors) -> None:
        spent.tokens += sum(texts_and_tokens[missing[index]][1] for index in indices)
        # One request returned all vectors. No later request can fail, so caching gains nothing.
        if len(indices) == len(missing):
            return
        nonlocal is_cached
        is_cached = True
        async with transaction(ctx.pool) as conn:
            await documents.cache_vectors(
                conn,
                application_id=application_id,
                model_id=ctx.model_id,
                hashes=[hashes[missing[index]] for index in indices],
                vectors=found,
            )

    def report(done: int, total: int) -> None:
        progress.advance_to(_FROM + (_TO - _FROM) * done / max(total, 1))

    error_code: EmbeddingLoss | None = None
    why = ""
    tokens = sum(texts_and_tokens[index][1] for index in missing)
    tokens_saved = sum(tokens for _, tokens in texts_and_tokens) - tokens
    metrics.embeddings_reused(len(chunks) - len(missing))
    if missing:
        async with ctx.token_reservations.hold(
            ctx.pool, application_id=application_id, tokens=tokens
        ) as spent:
            answer = await ctx.embedder.embed(
                [texts_and_tokens[index][0] for index in missing],
                [texts_and_tokens[index][1] for index in missing],
                owner=application_id,
                on_progress=report,
                on_vectors=cache,
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
        tokens_saved=tokens_saved,
        is_cached=is_cached,
    )


def _embedded(chunk: Chunk, subject: Subject, model: EmbeddingModel) -> tuple[str, int]:
    """The text to embed and its tokens: without its context if the model has no room for it."""
    context = context_line(subject, chunk.headings)
    tokens = chunk.token_count + len(context.encode()) // _BYTES_PER_TOKEN + 1
    if not context or tokens > model.max_tokens + model.context_tokens:
        return chunk.text, chunk.token_count
    return f"{context}\n\n{chunk.text}", tokens
