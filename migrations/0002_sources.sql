-- What users add: knowledge sources, the uploads they came with, and their progress events.

create table rag.upload_batches (
    id              uuid primary key,
    application_id  uuid not null references app.applications on delete cascade,
    -- Files by verdict.
    accepted        integer not null default 0,
    unchanged       integer not null default 0,
    duplicate       integer not null default 0,
    rejected        integer not null default 0,
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now(),
    -- When the last of its sources ended; null while one is in progress.
    completed_at    timestamptz
);
create index upload_batches_application on rag.upload_batches (application_id, created_at desc, id);
create index upload_batches_in_progress on rag.upload_batches (updated_at)
    where completed_at is null;

create table rag.knowledge_sources (
    id                  uuid primary key,
    application_id      uuid not null references app.applications on delete cascade,
    batch_id            uuid references rag.upload_batches on delete set null,
    type                text not null check (type in ('file', 'url', 'site')),
    name                text not null,
    -- Path or URL.
    uri                 text not null,
    status              text not null default 'pending'
        check (status in ('pending', 'processing', 'completed', 'partial', 'failed', 'cancelled',
                          'review_needed')),
    error_code          text,
    error_message       text,
    metadata            jsonb not null default '{}',
    -- Chunk size, overlap and split set for this source; anything else is its application's.
    chunking            jsonb not null default '{}',
    -- Pages and sites: limit, depth, patterns and provider of a crawl.
    crawl_settings      jsonb,
    -- Null: re-scraped nightly with all others.
    rescrape_cron       text,
    rescrape_timezone   text,
    next_rescrape_at    timestamptz,
    -- The root job of the current run: the status is derived from it and its children.
    current_job_id      uuid,
    -- Jobs of the last run by end state, kept when retention deletes the jobs and clears
    -- `current_job_id`.
    ended_job_counts    jsonb,
    -- What is searchable now. Written together with the chunks, so a failed run never looks done.
    content_hash        bytea,
    blob_key            text,
    size_bytes          bigint,
    embedding_model_id  smallint,
    coverage            jsonb,
    chunk_count         integer not null default 0,
    token_count         bigint not null default 0,
    -- The first source with the same bytes, when they were uploaded under another path too.
    duplicate_of        uuid,
    -- Number of the last progress event.
    event_seq           bigint not null default 0,
    created_at          timestamptz not null default now(),
    updated_at          timestamptz not null default now(),
    deleted_at          timestamptz,
    constraint completed_means_searchable
        check (status not in ('completed', 'partial') or chunk_count > 0),
    constraint rescrape_cron_has_timezone
        check ((rescrape_cron is null) = (rescrape_timezone is null))
) with (fillfactor = 80);
-- A digest, because a path may be longer than an index entry.
create unique index knowledge_sources_identity on rag.knowledge_sources
    (application_id, type, md5(uri)) where deleted_at is null;
create index knowledge_sources_list on rag.knowledge_sources
    (application_id, created_at desc, id desc) where deleted_at is null;
create index knowledge_sources_status on rag.knowledge_sources
    (application_id, status, created_at desc, id desc) where deleted_at is null;
create index knowledge_sources_changed on rag.knowledge_sources (application_id, updated_at);
create index knowledge_sources_batch on rag.knowledge_sources (batch_id);
create index knowledge_sources_content_hash on rag.knowledge_sources
    (application_id, content_hash) where deleted_at is null;
create index knowledge_sources_blob on rag.knowledge_sources (blob_key);
create index knowledge_sources_in_progress on rag.knowledge_sources (updated_at)
    where status in ('pending', 'processing') and deleted_at is null;
create index knowledge_sources_scheduled_rescrape on rag.knowledge_sources (next_rescrape_at)
    where next_rescrape_at is not null and deleted_at is null;
-- Spares the nightly re-scrape a scan of all files.
create index knowledge_sources_nightly_rescrape on rag.knowledge_sources (id)
    where type in ('url', 'site') and deleted_at is null and next_rescrape_at is null;

-- Every file named in an upload, rejected ones included, so that the report adds up.
create table rag.upload_files (
    batch_id             uuid not null references rag.upload_batches on delete cascade,
    ordinal              bigint generated always as identity,
    path                 text not null,
    size_bytes           bigint not null,
    verdict              text not null
        check (verdict in ('accepted', 'unchanged', 'duplicate', 'rejected')),
    knowledge_source_id  uuid,
    job_id               uuid,
    -- Error code and message of a rejected file.
    code                 text,
    detail               text,
    primary key (batch_id, ordinal)
);

create table rag.progress_events (
    source_id   uuid not null references rag.knowledge_sources on delete cascade,
    -- Dense per source, so that clients notice gaps and can resume.
    seq         bigint not null,
    type        text not null check (type in ('progress', 'job', 'source', 'done')),
    data        jsonb not null,
    created_at  timestamptz not null default now(),
    primary key (source_id, seq)
);
-- Not BRIN: deleted rows make room for newer ones anywhere in the table.
create index progress_events_age on rag.progress_events (created_at);
