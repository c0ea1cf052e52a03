-- What SQL reads of a job's payload, under the names of ingest/payloads.py. Only built-in types:
-- the payload of another type is free JSON and must not name blobs.

alter table rag.processing_jobs
    add column blob_key text generated always as (
        case when type in ('file', 'member', 'archive') then payload ->> 'blobKey' end) stored,
    add column content_hash bytea generated always as (
        case when type = 'file' then decode(payload ->> 'contentHash', 'hex') end) stored,
    add column size_bytes bigint generated always as (
        case when type in ('file', 'member') then (payload ->> 'sizeBytes')::bigint end) stored,
    -- Null: the document's uri is that of the source.
    add column document_uri text generated always as (
        case when type in ('member', 'archive') then payload ->> 'uri' end) stored,
    -- Null: no.
    add column may_hold_files boolean generated always as (
        case when type = 'member' then (payload ->> 'mayHoldFiles')::boolean end) stored;

drop index rag.processing_jobs_blob;
create index processing_jobs_blob on rag.processing_jobs (blob_key) where blob_key is not null;
