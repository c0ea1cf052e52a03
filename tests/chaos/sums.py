"""Counts that must agree with the rows that they count."""

from collections.abc import Sequence
from typing import Final, LiteralString

ADDS_UP: Final[Sequence[tuple[str, LiteralString, LiteralString]]] = (
    (
        "hung",
        "open jobs",
        "select type, status, wait_reason, last_error_code, count(*) from rag.processing_jobs "
        "where status in ('pending', 'processing') group by 1, 2, 3, 4",
    ),
    (
        "hung",
        "open sources",
        "select id, uri, status from rag.knowledge_sources "
        "where status in ('pending', 'processing') or deleted_at is not null",
    ),
    (
        "hung",
        "open crawls",
        "select id, provider, status from rag.crawls "
        "where status not in ('completed', 'failed', 'cancelled')",
    ),
    (
        "hung",
        "events of Firecrawl that were not processed",
        "select id, type, attempts, error from rag.webhook_events where processed_at is null",
    ),
    ("hung", "open batches", "select id from rag.upload_batches where completed_at is null"),
    (
        "lost",
        "notifications that were not delivered",
        "select id, event, status, attempts, last_status, last_error from rag.webhook_deliveries "
        "where status <> 'delivered'",
    ),
    (
        "lost",
        "gaps in the events of a source",
        "select source.id, source.event_seq, count(event.seq), min(event.seq), max(event.seq) "
        "from rag.knowledge_sources as source "
        "left join rag.progress_events as event on event.source_id = source.id group by 1, 2 "
        "having count(event.seq) <> source.event_seq or max(event.seq) <> source.event_seq",
    ),
    (
        "doubled",
        "chunks without exactly one vector",
        "select chunk.id, count(vector.chunk_id) from rag.chunks as chunk left join rag.embeddings "
        "as vector on vector.chunk_id = chunk.id group by 1 having count(vector.chunk_id) <> 1",
    ),
    (
        "lost",
        "chunks of a document that are not numbered 0 to n - 1, or not as many as it says",
        "select document.id, document.uri, document.chunk_count, count(chunk.id), "
        "max(chunk.ordinal) "
        "from rag.documents as document left join rag.chunks as chunk "
        "on chunk.document_id = document.id group by 1 having "
        "count(chunk.id) <> document.chunk_count "
        "or coalesce(max(chunk.ordinal), -1) <> document.chunk_count - 1",
    ),
    (
        "lost",
        "sources whose counts differ from those of their chunks",
        "select source.id, source.uri, source.chunk_count, count(chunk.id) "
        "from rag.knowledge_sources as source "
        "left join rag.documents as document on document.source_id = source.id "
        "and document.deleted_at is null "
        "left join rag.chunks as chunk on chunk.document_id = document.id "
        "group by 1 having count(chunk.id) <> source.chunk_count",
    ),
    (
        "leaked",
        "rows whose application is not that of their source",
        "select chunk.id, chunk.application_id, source.application_id from rag.chunks as chunk "
        "join rag.knowledge_sources as source on source.id = chunk.source_id "
        "left join rag.embeddings as vector on vector.chunk_id = chunk.id "
        "where chunk.application_id <> source.application_id "
        "or vector.application_id <> source.application_id",
    ),
    (
        "hung",
        "jobs with more attempts than they may have",
        "select id, type, attempts, max_attempts from rag.processing_jobs "
        "where attempts > max_attempts",
    ),
    (
        "failed",
        "internal errors",
        "select id, type, last_error_code, last_error_message from rag.processing_jobs "
        "where last_error_code = 'internal' and last_error_message not like '%%is full%%' "
        "and last_error_message not like '%%No space left%%'",
    ),
)
