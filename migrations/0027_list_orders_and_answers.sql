-- Sources by what they hold, largest first; what was sent to a receiver of events, and its answer.

create index if not exists knowledge_sources_chunks on rag.knowledge_sources
    (application_id, chunk_count desc, id desc) where deleted_at is null;
create index if not exists knowledge_sources_tokens on rag.knowledge_sources
    (application_id, token_count desc, id desc) where deleted_at is null;
-- Sites have no size.
create index if not exists knowledge_sources_size on rag.knowledge_sources
    (application_id, coalesce(size_bytes, 0) desc, id desc) where deleted_at is null;

-- Of the last attempt. Signatures are no secrets: the receiver gets them, and they expire.
alter table rag.webhook_deliveries
    add column if not exists last_headers jsonb,
    -- The beginning of the answer's body.
    add column if not exists last_answer text;
