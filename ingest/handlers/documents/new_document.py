"""A parsed and embedded file or page as what is stored of it."""

from uuid import UUID

from ingest.handlers.documents.embed_chunks import EmbeddedChunks, EmbeddingLoss
from ingest.model import ChunkSettings, Coverage
from ingest.sandbox.messages import Parsed
from ingest.store.documents.documents import FromWeb, NewDocument
from ingest.store.documents.held_documents import held_uri
from ingest.tokens.keywords import keyword_text

# A document that lost more of its pages than this is `partial`: found, but not all of it.
_TOLERATED_LOSS = 0.1


def new_document(
    *,
    source_id: UUID,
    application_id: UUID,
    uri: str,
    content_hash: bytes,
    parsed: Parsed,
    vectors: EmbeddedChunks,
    model_id: int,
    chunking: ChunkSettings,
    web: FromWeb | None = None,
    held_by: UUID | None = None,
    seen_by: UUID | None = None,
) -> NewDocument:
    """The document with its chunks and vectors; `partial` when some of it is missing.

    `held_by` is the job that asks for a review of it: it is stored, but nobody finds it. `seen_by`
    is the root job of a run over many files in one.
    """
    coverage = parsed.document.coverage
    return NewDocument(
        application_id=application_id,
        source_id=source_id,
        uri=uri if held_by is None else held_uri(held_by),
        content_hash=content_hash,
        document=parsed.document,
        chunks=parsed.chunks,
        keywords=[keyword_text(chunk.text) for chunk in parsed.chunks],
        vectors=vectors.vectors,
        embedded=vectors.embedded,
        model_id=model_id,
        chunking=chunking,
        is_partial=vectors.error_code is not None or _lost_share(coverage) > _TOLERATED_LOSS,
        error_code=partial_code(vectors.error_code, coverage),
        web=web,
        held_by=held_by,
        seen_by=seen_by,
    )


def _lost_share(coverage: Coverage) -> float:
    """Share of pages that have something to read which nobody has read. Blank ones have nothing."""
    return (coverage.unread + coverage.failed) / max(coverage.pages, 1)


def partial_code(embedding: EmbeddingLoss | None, coverage: Coverage) -> str | None:
    """What is missing of a document that is searchable; None: nothing that matters."""
    if embedding is not None:
        return embedding
    if _lost_share(coverage) <= _TOLERATED_LOSS:
        return None
    return "no_text" if coverage.unread >= coverage.failed else "corrupt"
