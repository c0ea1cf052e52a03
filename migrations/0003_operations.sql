-- What operators need: limits of job types, shared rate limits, budgets, reviews of files, outgoing
-- webhooks, retention.

-- ---------------------------------------------------------------- job types

alter table rag.job_types
    -- Longest time in which an attempt may not get on: no new stage, no higher percent.
    add column stage_timeout    interval not null default '10 minutes',
    -- Jobs of the type that may run at once, and attempts that may start in any minute, of all
    -- workers together; null: as many as there are slots.
    add column max_concurrent   integer check (max_concurrent > 0),
    add column rate_per_minute  integer check (rate_per_minute > 0),
    -- JSON Schema of the payload. Null: only the service itself queues such jobs.
    add column payload_schema   jsonb,
    -- The service's own: what its payload says is trusted, so nobody else may queue it.
    add column is_built_in      boolean not null default false,
    add column created_at       timestamptz not null default now(),
    add column updated_at       timestamptz not null default now();
update rag.job_types
   set is_built_in = true,
       stage_timeout = case when type = 'purge' then timeout else least(stage_timeout, timeout) end;
-- One request, tried again on a schedule of its own for about a day; few at a time, so that a
-- receiver that hangs never holds more slots than that.
insert into rag.job_types
    (type, handler, max_attempts, timeout, stage_timeout, max_concurrent, is_built_in) values
    ('notification', 'notification', 8, '2 minutes', '2 minutes', 4, true);

-- ---------------------------------------------------------------- the queue

alter table rag.processing_jobs
    -- Of a job in `review_needed`: what a person is asked about.
    add column review_reason  text,
    -- W3C trace context of the request that queued it.
    add column traceparent    text;

-- Ordered as the claim reads it: the work of people before that of the night, in turn over
-- applications, and within one by priority and age. Workers of the version before claim without an
-- index until they are replaced.
drop index rag.processing_jobs_ready;
create index processing_jobs_ready on rag.processing_jobs
    (type, (priority < 0), application_id, priority desc, position)
    where status = 'pending' and run_at is null;
-- By age alone, for the slots that keep low priorities from starving.
create index processing_jobs_oldest on rag.processing_jobs (type, position)
    where status = 'pending' and run_at is null;
-- How many of a type run.
drop index rag.processing_jobs_running;
create index processing_jobs_running on rag.processing_jobs (type, locked_by)
    where status = 'processing';
create index processing_jobs_type on rag.processing_jobs (application_id, type, position desc);
create index processing_jobs_error on rag.processing_jobs (application_id, last_error_code, position desc)
    where last_error_code is not null;
-- What an operator counts without reading what has completed.
create index processing_jobs_unsolved on rag.processing_jobs (status, type)
    where status in ('failed', 'review_needed');
create index processing_jobs_ended on rag.processing_jobs (completed_at, position)
    where completed_at is not null;
-- Errors are those of failed jobs: without this a list of both would be expected to be short, and
-- read and sort all jobs with the code.
create statistics rag.processing_jobs_states (mcv) on status, type, last_error_code
    from rag.processing_jobs;

-- ---------------------------------------------------------------- rate limits and budgets

-- What all workers together may do to one provider, or with one type of job. Limits themselves are
-- configuration (rag.worker_config `limits`, rag.job_types); here is what is left of them.
create table rag.lanes (
    lane          text primary key,
    -- Null: full.
    requests      double precision,
    tokens        double precision,
    refilled_at   timestamptz not null default now(),
    -- The provider asked for a pause, or has failed too often.
    paused_until  timestamptz,
    pause_reason  text,
    -- In a row, since the last success.
    failures      integer not null default 0
) with (fillfactor = 50);

create table rag.token_usage (
    application_id  uuid not null references app.applications on delete cascade,
    -- In UTC.
    day             date not null,
    tokens          bigint not null default 0,
    primary key (application_id, day)
) with (fillfactor = 50);

-- ---------------------------------------------------------------- repeated requests

-- What a repeated request is answered with; until now only uploads had such answers.
alter table rag.idempotency_keys add column status smallint not null default 202;

-- ---------------------------------------------------------------- batches and reviews

alter table rag.upload_batches
    -- When the last of its sources ended; null while one is open.
    add column completed_at timestamptz;
create index upload_batches_open on rag.upload_batches (updated_at) where completed_at is null;
update rag.upload_batches as batch
   set completed_at = updated_at
 where not exists (
        select 1 from rag.knowledge_sources as source
         where source.batch_id = batch.id and source.status in ('pending', 'processing'));

alter table rag.documents
    -- Of a new version that waits for a review: the job that made it. Such a row is hidden by
    -- `deleted_at` and known by another uri until it takes its place.
    add column held_by uuid;
create index documents_held on rag.documents (held_by) where held_by is not null;
create index documents_deleted on rag.documents (deleted_at) where deleted_at is not null;

-- ---------------------------------------------------------------- retention

alter table rag.knowledge_sources
    -- How many jobs of the last run came to which end: written when they are removed, together with
    -- `current_job_id = null`.
    add column ended_counts jsonb;
create index crawls_ended on rag.crawls (ended_at, id) where ended_at is not null;
-- Rows that are removed make room for later ones anywhere in the table, so a summary of ranges would
-- soon tell nothing.
drop index rag.progress_events_age;
create index progress_events_age on rag.progress_events (created_at);

-- ---------------------------------------------------------------- outgoing notifications

create table rag.webhook_endpoints (
    id                     uuid primary key,
    application_id         uuid not null references app.applications on delete cascade,
    -- https:// or http://, or mailto:
    url                    text not null,
    description            text not null default '',
    events                 text[] not null,
    -- Both sign while one replaces the other. In clear, because signing needs them.
    secret                 text not null,
    previous_secret        text,
    previous_secret_until  timestamptz,
    is_enabled             boolean not null default true,
    disabled_reason        text,
    failing_since          timestamptz,
    -- In a row, since the last success.
    failures               integer not null default 0,
    -- While it fails: nothing is sent before; then one delivery tries, the others go on waiting.
    retry_at               timestamptz,
    created_at             timestamptz not null default now(),
    updated_at             timestamptz not null default now()
) with (fillfactor = 80);
create index webhook_endpoints_application on rag.webhook_endpoints (application_id, created_at desc, id desc);

create table rag.webhook_deliveries (
    -- Also the message id that receivers see.
    id               uuid primary key,
    position         bigint generated always as identity,
    endpoint_id      uuid not null references rag.webhook_endpoints on delete cascade,
    application_id   uuid not null references app.applications on delete cascade,
    event            text not null,
    -- What happened, once: the same happening is told once to each endpoint.
    dedupe_key       text not null,
    -- Frozen: every attempt sends these bytes.
    body             text not null,
    status           text not null default 'pending'
        check (status in ('pending', 'delivered', 'failed')),
    job_id           uuid,
    attempts         integer not null default 0,
    last_status      integer,
    last_error       text,
    last_attempt_at  timestamptz,
    delivered_at     timestamptz,
    created_at       timestamptz not null default now(),
    unique (endpoint_id, dedupe_key)
) with (fillfactor = 80);
create index webhook_deliveries_list on rag.webhook_deliveries (endpoint_id, position desc);
create index webhook_deliveries_open on rag.webhook_deliveries (created_at) where status = 'pending';
create index webhook_deliveries_job on rag.webhook_deliveries (job_id);
create index webhook_deliveries_pending on rag.webhook_deliveries (endpoint_id)
    where status = 'pending';
create index webhook_deliveries_age on rag.webhook_deliveries (created_at);
