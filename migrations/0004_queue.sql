-- The job queue, its workers, and the limits that all workers share.

create table rag.job_types (
    type             text primary key,
    handler          text not null,
    max_attempts     integer not null default 5 check (max_attempts between 1 and 100),
    backoff_base     interval not null default '2 seconds',
    backoff_cap      interval not null default '10 minutes',
    timeout          interval not null default '30 minutes',
    -- Longest time without progress: no new stage and no higher percent.
    stage_timeout    interval not null default '10 minutes',
    -- Over all workers: jobs that run at once, attempts that start in any minute. Null: no limit.
    max_concurrent   integer check (max_concurrent > 0),
    rate_per_minute  integer check (rate_per_minute > 0),
    -- JSON Schema of the payload. Null: only the service itself queues such jobs.
    payload_schema   jsonb,
    -- Payloads of built-in types are trusted, so only the service may queue them.
    is_built_in      boolean not null default false,
    is_enabled       boolean not null default true,
    is_paused        boolean not null default false,
    created_at       timestamptz not null default now(),
    updated_at       timestamptz not null default now()
);
insert into rag.job_types
    (type, handler, max_attempts, timeout, stage_timeout, max_concurrent, is_built_in) values
    ('file',         'file',         5,  '30 minutes', '10 minutes', null, true),
    ('archive',      'archive',      3,  '30 minutes', '10 minutes', null, true),
    -- A file inside an archive or message.
    ('member',       'member',       5,  '30 minutes', '10 minutes', null, true),
    ('rechunk',      'rechunk',      5,  '30 minutes', '10 minutes', null, true),
    ('purge',        'purge',        20, '30 minutes', '30 minutes', null, true),
    ('url',          'url',          5,  '15 minutes', '10 minutes', null, true),
    ('site_crawl',   'site_crawl',   5,  '15 minutes', '10 minutes', null, true),
    ('crawl_page',   'crawl_page',   5,  '15 minutes', '10 minutes', null, true),
    ('rescrape',     'rescrape',     5,  '15 minutes', '10 minutes', null, true),
    ('stop_crawl',   'stop_crawl',   10, '5 minutes',  '5 minutes',  null, true),
    -- One HTTP request or mail, retried on its own schedule for about a day. Few at once, so that
    -- receivers that hang cannot occupy all slots.
    ('notification', 'notification', 8,  '2 minutes',  '2 minutes',  4,    true);

create table rag.processing_jobs (
    id                   uuid primary key,
    -- Order of arrival: `created_at` is equal for all jobs queued by one transaction.
    position             bigint generated always as identity,
    application_id       uuid not null references app.applications on delete cascade,
    knowledge_source_id  uuid,
    batch_id             uuid,
    parent_job_id        uuid,
    type                 text not null references rag.job_types,
    status               text not null default 'pending'
        check (status in ('pending', 'processing', 'completed', 'failed', 'cancelled',
                          'review_needed')),
    -- Below 0: background work, claimed after all other work.
    priority             integer not null default 0 check (priority between -100 and 100),
    payload              jsonb not null default '{}',
    stage                text,
    progress             smallint not null default 0 check (progress between 0 and 100),
    attempts             integer not null default 0,
    max_attempts         integer not null,
    -- Null: ready now. Otherwise the job waits until then, for `wait_reason`.
    run_at               timestamptz,
    wait_reason          text,
    -- The worker that holds it.
    locked_by            uuid,
    locked_at            timestamptz,
    -- Grows with each claim; every write of a holder names it, so that late writers fail.
    fence                bigint not null default 0,
    idempotency_key      text,
    embedding_config     jsonb,
    user_id              text,
    -- W3C trace context of the request that queued it.
    traceparent          text,
    last_error_code      text,
    last_error_message   text,
    -- With status `review_needed`: the question to a person.
    review_reason        text,
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
-- Every status change writes each index that the job is in, so most indexes are partial.
-- In the order of the claim: background work last, applications in turn, then priority, then age.
-- Jobs that wait for a time are not in it.
create index processing_jobs_ready on rag.processing_jobs
    (type, (priority < 0), application_id, priority desc, position)
    where status = 'pending' and run_at is null;
-- By age alone, for the claims that keep low priorities from starving.
create index processing_jobs_ready_by_age on rag.processing_jobs (type, position)
    where status = 'pending' and run_at is null;
create index processing_jobs_scheduled on rag.processing_jobs (run_at)
    where status = 'pending' and run_at is not null;
create index processing_jobs_running on rag.processing_jobs (type, locked_by)
    where status = 'processing';
create index processing_jobs_source on rag.processing_jobs (knowledge_source_id, position desc)
    where knowledge_source_id is not null;
create index processing_jobs_parent on rag.processing_jobs (parent_job_id)
    where parent_job_id is not null;
create index processing_jobs_batch on rag.processing_jobs (batch_id, position)
    where batch_id is not null;
-- For all lists; the few jobs in `processing` are found by `processing_jobs_running`.
create index processing_jobs_status on rag.processing_jobs
    (application_id, status, type, position desc)
    where status <> 'processing';
create index processing_jobs_error_code on rag.processing_jobs
    (application_id, last_error_code, position desc)
    where last_error_code is not null;
-- For counts of what needs an operator.
create index processing_jobs_needs_attention on rag.processing_jobs (status, type)
    where status in ('failed', 'review_needed');
create index processing_jobs_completed on rag.processing_jobs (completed_at, position)
    where completed_at is not null;
-- The condition and the expression are those of rag.job_files.
create index processing_jobs_blob on rag.processing_jobs
    ((case when type in ('file', 'member', 'archive') then payload ->> 'blobKey' end))
    where type in ('file', 'member', 'archive');
create unique index processing_jobs_idempotency on rag.processing_jobs
    (application_id, idempotency_key)
    where idempotency_key is not null;

-- Jobs, with what statements read of their payloads: only here, under the names of
-- ingest/payloads.py. Columns are null for types whose payload is free JSON: that must not name
-- blobs. Not generated columns: those would double the processor time of claiming and completing.
-- Conditions on `blob_key` must also name `is_file_job`, so that the index serves them.
create view rag.job_files as
select id, knowledge_source_id, parent_job_id, type, status, progress, completed_at, last_error_code,
       type in ('file', 'member', 'archive') as is_file_job,
       case when type in ('file', 'member', 'archive') then payload ->> 'blobKey' end as blob_key,
       case when type = 'file' then decode(payload ->> 'contentHash', 'hex') end as content_hash,
       case when type in ('file', 'member') then (payload ->> 'sizeBytes')::bigint end
         as size_bytes,
       -- Null: the document's uri is that of the source.
       case when type in ('member', 'archive') then payload ->> 'uri' end as document_uri,
       type = 'member' and payload ? 'mayHoldFiles' as may_hold_files
  from rag.processing_jobs;

-- Error codes belong to failed jobs. Without this the planner expects few jobs with a given code
-- and status, and sorts all with the code.
create statistics rag.processing_jobs_status_type_error (mcv) on status, type, last_error_code
    from rag.processing_jobs;

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

-- `heartbeat_at` has no index, so that a heartbeat stays within its page.
create table rag.workers (
    id            uuid primary key,
    host          text not null,
    pid           integer not null,
    started_at    timestamptz not null default now(),
    heartbeat_at  timestamptz not null default now(),
    -- Jobs that it runs now.
    running       integer not null default 0,
    draining      boolean not null default false
) with (fillfactor = 50);

-- Settings that operators change at run time (ingest/store/limits/worker_config.py).
create table rag.worker_config (
    key         text primary key,
    value       jsonb not null,
    updated_at  timestamptz not null default now()
);
insert into rag.worker_config (key, value) values ('paused', 'false');

-- Ticks that were fired; the primary key lets one replica fire each.
create table rag.schedules (
    name           text not null,
    scheduled_for  timestamptz not null,
    fired_at       timestamptz not null default now(),
    primary key (name, scheduled_for)
);

-- State of the shared rate limits: one lane per provider, model and key, or per job type. The
-- limits themselves are in rag.worker_config (`limits`) and rag.job_types.
create table rag.lanes (
    lane           text primary key,
    -- Left in the token bucket. Null: full.
    requests       double precision,
    tokens         double precision,
    refilled_at    timestamptz not null default now(),
    -- Set by a provider's Retry-After or by the circuit breaker.
    paused_until   timestamptz,
    pause_reason   text,
    -- In a row, since the last success.
    failures       integer not null default 0,
    -- The provider's last error, shown to operators until a request succeeds.
    failing_since  timestamptz,
    error_code     text,
    -- HTTP status; null: no HTTP response.
    error_status   integer,
    error_message  text
) with (fillfactor = 50);
