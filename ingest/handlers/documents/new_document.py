"""Build the document to store from a parsed and embedded file or page."""

from uuid import UUID

from ingest.handlers.documents.embed_chunks import EmbeddedChunks, EmbeddingLoss
from ingest.model import ChunkSettings, Coverage
from ingest.sandbox.messages import Parsed
from ingest.store.documents.documents import FromWeb, NewDocument
from ingest.store.documents.held_documents import held_uri

# A document that lost a larger share of its pages is `partial`: searchable, but incomplete.
_TOLERATED_LOSS = 0.1


def new_document(
    *,
    source_id: UUID,
    application_id: UUID,
    uri: str,
    source_name: str | None = None,
    content_hash: bytes,
    parsed: Parsed,
    vectors: EmbeddedChunks,
    model_id: int,
    chunking: ChunkSettings,
    web: FromWeb | None = None,
    held_by_job_id: UUID | None = None,
    last_seen_job_id: UUID | None = None,
) -> NewDocument:
    """The document with its chunks and vectors; `partial` if some of it is missing.

    `held_by_job_id`: the job that asks for a review; until then the document is stored but not
    searchable. `last_seen_job_id`: the root job of an upload that contains files.
    """
    coverage = parsed.document.coverage
    return NewDocument(
        application_id=application_id,
        source_id=source_id,
        uri=uri if held_by_job_id is None else held_uri(held_by_job_id),
        source_name=source_name,
        content_hash=content_hash,
        document=parsed.document,
        chunks=parsed.chunks,
        hashes=vectors.hashes,
        vectors=vectors.vectors,
        embedded=vectors.embedded,
        model_id=model_id,
        chunking=chunking,
        is_partial=vectors.error_code is not None or _lost_share(coverage) > _TOLERATED_LOSS,
        error_code=partial_code(vectors.error_code, coverage),
        web=web,
        held_by_job_id=held_by_job_id,
        last_seen_job_id=last_seen_job_id,
    )


def _lost_share(coverage: Coverage) -> float:
    """Share of pages that were not read although they are not blank."""
    return (coverage.unread + coverage.failed) / max(coverage.pages, 1)


def partial_code(embedding: EmbeddingLoss | None, coverage: Coverage) -> str | None:
    """Code for what a searchable document lacks; None: nothing relevant."""
    if embedding is not None:
        return embedding
    if _lost_share(coverage) <= _TOLERATED_LOSS:
        return None
    return "no_text" if coverage.unread >= coverage.failed else "corrupt"
