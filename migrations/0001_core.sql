-- Schemas, tables and indexes of the main job: upload, queue, pipeline, progress, search.
-- Forward only: code of the version before must run on this schema.

create schema if not exists app;
create schema if not exists rag;

-- ---------------------------------------------------------------- applications and keys

create table app.applications (
    id          uuid primary key default gen_random_uuid(),
    name        text not null check (name <> ''),
    settings    jsonb not null default '{}',
    is_default  boolean not null default false,
    created_at  timestamptz not null default now()
);
create unique index applications_default on app.applications (is_default) where is_default;
-- The operator's key acts on this one when it names no other, so that a first upload needs no set-up.
insert into app.applications (name, is_default) values ('default', true);

create table app.api_keys (
    id              uuid primary key default gen_random_uuid(),
    application_id  uuid not null references app.applications on delete cascade,
    name            text not null,
    role            text not null check (role in ('viewer', 'editor', 'admin')),
    prefix          text not null,
    -- Keys are 256 random bits, so one unsalted SHA-256 is as good as a slow hash.
    key_hash        bytea not null unique,
    created_at      timestamptz not null default now(),
    revoked_at      timestamptz
);
create index api_keys_application on app.api_keys (application_id, created_at desc, id);

create table app.tickets (
    ticket_hash     bytea primary key,
    application_id  uuid not null references app.applications on delete cascade,
    -- The key it stands for, so that revoking the key ends its tickets; null for the operator's.
    key_id          uuid references app.api_keys on delete cascade,
    role            text not null check (role in ('viewer', 'editor', 'admin')),
    expires_at      timestamptz not null
);

-- ---------------------------------------------------------------- what the user added

create table rag.upload_batches (
    id              uuid primary key,
    application_id  uuid not null references app.applications on delete cascade,
    accepted        integer not null default 0,
    unchanged       integer not null default 0,
    duplicate       integer not null default 0,
    rejected        integer not null default 0,
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now()
);
create index upload_batches_application on rag.upload_batches (application_id, created_at desc, id);

create table rag.knowledge_sources (
    id                  uuid primary key,
    application_id      uuid not null references app.applications on delete cascade,
    batch_id            uuid references rag.upload_batches on delete set null,
    type                text not null check (type in ('file', 'url', 'site')),
    name                text not null,
    uri                 text not null,
    status              text not null default 'pending'
        check (status in ('pending', 'processing', 'completed', 'partial', 'failed', 'cancelled', 'review_needed')),
    error_code          text,
    error_message       text,
    metadata            jsonb not null default '{}',
    -- The root job of the current run: status is derived from it and its children.
    current_job_id      uuid,
    -- What is searchable now. Written with the chunks, never before: a failed run must not look done.
    content_hash        bytea,
    blob_key            text,
    size_bytes          bigint,
    embedding_model_id  smallint,
    coverage            jsonb,
    chunk_count         integer not null default 0,
    token_count         bigint not null default 0,
    -- The source that first had the same bytes, when they came in under another path too.
    duplicate_of        uuid,
    event_seq           bigint not null default 0,
    created_at          timestamptz not null default now(),
    updated_at          timestamptz not null default now(),
    deleted_at          timestamptz,
    constraint completed_means_searchable
        check (status not in ('completed', 'partial') or chunk_count > 0)
) with (fillfactor = 80);
-- Paths may be longer than an index entry, so identity is by the digest of the path.
create unique index knowledge_sources_identity
    on rag.knowledge_sources (application_id, type, md5(uri)) where deleted_at is null;
create index knowledge_sources_list
    on rag.knowledge_sources (application_id, created_at desc, id desc) where deleted_at is null;
create index knowledge_sources_status
    on rag.knowledge_sources (application_id, status, created_at desc, id desc) where deleted_at is null;
create index knowledge_sources_changed
    on rag.knowledge_sources (application_id, updated_at);
create index knowledge_sources_batch on rag.knowledge_sources (batch_id);
create index knowledge_sources_content
    on rag.knowledge_sources (application_id, content_hash) where deleted_at is null;
create index knowledge_sources_blob on rag.knowledge_sources (blob_key);
create index knowledge_sources_open
    on rag.knowledge_sources (updated_at) where status in ('pending', 'processing') and deleted_at is null;

-- One row per file that was ever named in a batch, rejected ones too: the report adds up.
create table rag.upload_files (
    batch_id             uuid not null references rag.upload_batches on delete cascade,
    ordinal              bigint generated always as identity,
    path                 text not null,
    size_bytes           bigint not null,
    verdict              text not null check (verdict in ('accepted', 'unchanged', 'duplicate', 'rejected')),
    knowledge_source_id  uuid,
    job_id               uuid,
    code                 text,
    detail               text,
    primary key (batch_id, ordinal)
);

create table rag.documents (
    id              uuid primary key,
    application_id  uuid not null references app.applications on delete cascade,
    source_id       uuid not null references rag.knowledge_sources on delete cascade,
    uri             text not null,
    title           text,
    media_type      text not null,
    status          text not null check (status in ('completed', 'partial', 'failed')),
    error_code      text,
    content_hash    bytea not null,
    text            text not null,
    extractor       text not null,
    encoding        jsonb,
    coverage        jsonb not null,
    metadata        jsonb not null default '{}',
    warnings        text[] not null default '{}',
    chunk_count     integer not null,
    token_count     bigint not null,
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now(),
    deleted_at      timestamptz
);
create unique index documents_identity on rag.documents (source_id, md5(uri));
create index documents_source on rag.documents (source_id, id);

create table rag.chunks (
    id              uuid primary key,
    application_id  uuid not null,
    source_id       uuid not null,
    document_id     uuid not null references rag.documents on delete cascade,
    ordinal         integer not null,
    content         text not null,
    content_hash    bytea not null,
    token_count     integer not null,
    headings        text[] not null default '{}',
    page            integer,
    char_start      integer not null,
    char_end        integer not null,
    -- Text for the keyword index where it differs from the content: languages written without spaces.
    keywords        text,
    tsv             tsvector generated always as (to_tsvector('english', coalesce(keywords, content))) stored
);
create unique index chunks_document on rag.chunks (document_id, ordinal);
create index chunks_source on rag.chunks (source_id, id);
create index chunks_content on rag.chunks (application_id, content_hash);
create index chunks_tsv on rag.chunks using gin (tsv);

-- ---------------------------------------------------------------- vectors

create table rag.embedding_models (
    id          smallint generated always as identity primary key,
    provider    text not null,
    name        text not null,
    dimension   integer not null check (dimension between 1 and 4000),
    distance    text not null default 'cosine' check (distance = 'cosine'),
    created_at  timestamptz not null default now(),
    unique (provider, name, dimension)
);

-- One table for all models; each model has its own partial HNSW index, made when it is registered.
create table rag.embeddings (
    chunk_id        uuid not null references rag.chunks on delete cascade,
    model_id        smallint not null references rag.embedding_models,
    application_id  uuid not null,
    embedding       vector not null,
    primary key (chunk_id, model_id)
);
create index embeddings_application on rag.embeddings (model_id, application_id);

-- Vectors that were paid for by a job that has not completed yet.
create table rag.embedding_cache (
    application_id  uuid not null references app.applications on delete cascade,
    model_id        smallint not null references rag.embedding_models,
    text_hash       bytea not null,
    embedding       vector not null,
    created_at      timestamptz not null default now(),
    primary key (application_id, model_id, text_hash)
);
create index embedding_cache_age on rag.embedding_cache (created_at);

-- ---------------------------------------------------------------- the queue

create table rag.job_types (
    type          text primary key,
    handler       text not null,
    max_attempts  integer not null default 5 check (max_attempts between 1 and 100),
    backoff_base  interval not null default '2 seconds',
    backoff_cap   interval not null default '10 minutes',
    timeout       interval not null default '30 minutes',
    is_enabled    boolean not null default true,
    is_paused     boolean not null default false
);
insert into rag.job_types (type, handler, max_attempts, timeout) values
    ('file', 'file', 5, '30 minutes'),
    ('purge', 'purge', 20, '30 minutes');

create table rag.processing_jobs (
    id                   uuid primary key,
    -- Order of arrival; `created_at` is equal for all rows of one bulk enqueue.
    position             bigint generated always as identity,
    application_id       uuid not null references app.applications on delete cascade,
    knowledge_source_id  uuid,
    batch_id             uuid,
    parent_job_id        uuid,
    type                 text not null references rag.job_types,
    status               text not null default 'pending'
        check (status in ('pending', 'processing', 'completed', 'failed', 'cancelled', 'review_needed')),
    priority             integer not null default 0 check (priority between -100 and 100),
    payload              jsonb not null default '{}',
    stage                text,
    progress             smallint not null default 0 check (progress between 0 and 100),
    attempts             integer not null default 0,
    max_attempts         integer not null,
    -- Null: ready now. Set: waiting for that time, with the reason beside it.
    run_at               timestamptz,
    wait_reason          text,
    locked_by            uuid,
    locked_at            timestamptz,
    fence                bigint not null default 0,
    idempotency_key      text,
    embedding_config     jsonb,
    user_id              text,
    last_error_code      text,
    last_error_message   text,
    result               jsonb,
    created_at           timestamptz not null default now(),
    started_at           timestamptz,
    completed_at         timestamptz
) with (
    fillfactor = 85,
    -- A queue table is mostly dead rows: vacuum early, often and at full speed.
    autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0.02
);
-- Ordered exactly as the claim reads it; rows that wait for a time are not in it.
create index processing_jobs_ready on rag.processing_jobs (type, priority desc, application_id, position)
    where status = 'pending' and run_at is null;
create index processing_jobs_scheduled on rag.processing_jobs (run_at)
    where status = 'pending' and run_at is not null;
create index processing_jobs_running on rag.processing_jobs (locked_by) where status = 'processing';
create index processing_jobs_source on rag.processing_jobs (knowledge_source_id, position desc);
create index processing_jobs_parent on rag.processing_jobs (parent_job_id) where parent_job_id is not null;
create index processing_jobs_batch on rag.processing_jobs (batch_id, position) where batch_id is not null;
create index processing_jobs_list on rag.processing_jobs (application_id, position desc);
create index processing_jobs_status on rag.processing_jobs (application_id, status, position desc);
create index processing_jobs_blob on rag.processing_jobs ((payload ->> 'blobKey')) where payload ? 'blobKey';
create unique index processing_jobs_idempotency on rag.processing_jobs (application_id, idempotency_key)
    where idempotency_key is not null;

create table rag.job_logs (
    id           bigint generated always as identity primary key,
    job_id       uuid not null references rag.processing_jobs on delete cascade,
    attempt      integer not null,
    level        text not null check (level in ('info', 'warning', 'error')),
    stage        text,
    message      text not null,
    details      jsonb not null default '{}',
    duration_ms  integer,
    created_at   timestamptz not null default now()
);
create index job_logs_job on rag.job_logs (job_id, id);

-- `heartbeat_at` has no index: a renewal stays within its page.
create table rag.workers (
    id            uuid primary key,
    host          text not null,
    pid           integer not null,
    started_at    timestamptz not null default now(),
    heartbeat_at  timestamptz not null default now(),
    running       integer not null default 0,
    draining      boolean not null default false
) with (fillfactor = 50);

create table rag.worker_config (
    key         text primary key,
    value       jsonb not null,
    updated_at  timestamptz not null default now()
);
insert into rag.worker_config (key, value) values ('paused', 'false');

-- ---------------------------------------------------------------- events, schedules, replays

create table rag.progress_events (
    source_id   uuid not null references rag.knowledge_sources on delete cascade,
    seq         bigint not null,
    type        text not null check (type in ('progress', 'job', 'source', 'done')),
    data        jsonb not null,
    created_at  timestamptz not null default now(),
    primary key (source_id, seq)
);
create index progress_events_age on rag.progress_events using brin (created_at);

create table rag.schedules (
    name           text not null,
    scheduled_for  timestamptz not null,
    fired_at       timestamptz not null default now(),
    primary key (name, scheduled_for)
);

create table rag.idempotency_keys (
    application_id  uuid not null references app.applications on delete cascade,
    key             text not null,
    request_hash    bytea not null,
    response        jsonb not null,
    created_at      timestamptz not null default now(),
    primary key (application_id, key)
);
create index idempotency_keys_age on rag.idempotency_keys (created_at);
