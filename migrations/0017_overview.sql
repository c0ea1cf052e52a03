-- What the overview of an application shows: how much work ended, and what waits or has failed.

-- Ended attempts, per minute; those of two days ago and earlier per hour. Each worker counts in
-- memory and writes its own rows every few seconds: no row is shared, and the queue has no trigger.
-- A worker that is killed loses what it has not written.
create table if not exists rag.activity (
    application_id  uuid not null references app.applications on delete cascade,
    -- When the minute, or the hour, began.
    minute          timestamptz not null,
    -- All zeros: an hour of all workers.
    worker_id       uuid not null,
    -- Of the jobs.
    type            text not null,
    outcome         text not null
        check (outcome in ('completed', 'failed', 'review_needed', 'retry')),
    n               bigint not null default 0,
    -- Of the documents that were stored.
    tokens          bigint not null default 0,
    -- Of the files that were read; of a web page: of its text.
    bytes           bigint not null default 0,
    primary key (application_id, minute, worker_id, type, outcome)
) with (fillfactor = 50);
-- To merge minutes into hours, and to forget hours, without reading the rest.
create index if not exists activity_age on rag.activity
    ((worker_id = '00000000-0000-0000-0000-000000000000'), minute);

-- Null: a worker of an earlier version.
alter table rag.workers add column if not exists slots integer;

-- Counts per application. Jobs are seldom delayed and seldom fail, so these are seldom written.
create index if not exists processing_jobs_waiting on rag.processing_jobs
    (application_id, (coalesce(wait_reason, 'scheduled')))
    where status = 'pending' and run_at is not null;
create index if not exists processing_jobs_failed on rag.processing_jobs
    (application_id, completed_at desc) include (last_error_code)
    where status = 'failed';
