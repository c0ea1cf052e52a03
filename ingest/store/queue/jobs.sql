-- The job queue. docs/locks.md has the order of locks.

-- name: enqueue
-- Inserts any number of jobs and wakes the workers; returns how many are new. A job whose
-- idempotency key exists is not inserted again. Ids are returned only if there are keys: that takes
-- a quarter of the statement's time.
with inserted as (
    insert into rag.processing_jobs
        (id, application_id, knowledge_source_id, batch_id, parent_job_id, type, priority, payload,
         idempotency_key, user_id, max_attempts, run_at, wait_reason, traceparent)
    select new.id, new.application_id, new.knowledge_source_id, new.batch_id, new.parent_job_id,
           new.type, new.priority, new.payload::jsonb, new.idempotency_key, new.user_id,
           job_type.max_attempts, now() + new.delay,
           case when new.delay is not null then 'scheduled' end, new.traceparent
      from unnest(%(ids)b::uuid[], %(application_ids)b::uuid[], %(source_ids)b::uuid[],
                  %(batch_ids)b::uuid[], %(parent_ids)b::uuid[], %(types)b::text[],
                  %(priorities)b::integer[], %(payloads)b::text[], %(keys)b::text[],
                  %(user_ids)b::text[], %(delays)b::interval[], %(traceparents)b::text[])
                  with ordinality
           as new(id, application_id, knowledge_source_id, batch_id, parent_job_id, type, priority,
                  payload, idempotency_key, user_id, delay, traceparent, n)
      join rag.job_types as job_type on job_type.type = new.type
     order by new.n
    on conflict (application_id, idempotency_key) where idempotency_key is not null do nothing
    returning case when cardinality(%(keys)b::text[]) > 0 then id end as id
)
select count(*) as inserted, array_agg(id) filter (where id is not null) as ids,
       pg_notify('rag_jobs', '')
  from inserted;

-- name: by_idempotency_key
select id, idempotency_key as key
  from rag.processing_jobs
 where application_id = any(%(application_ids)s) and idempotency_key = any(%(keys)s);

-- name: wake
select pg_notify('rag_jobs', %(payload)s);

-- name: hold
-- Lock the jobs we still own; a process that wants to take them away waits for our commit.
select job.id
  from rag.processing_jobs as job
  join unnest(%(ids)b::uuid[], %(fences)b::bigint[]) as held(id, fence)
    on job.id = held.id and job.fence = held.fence
 where job.status = 'processing'
 order by job.id
   for update of job;

-- name: plan_complete
-- Options for the transaction of `complete`. Two plans are left, and both visit jobs in the order of
-- their ids: look up each given id, or, if the table is small, scan the primary key. Planned for the
-- values, because a table that was small grows within seconds.
select set_config(name, value, true)
  from (values ('plan_cache_mode', 'force_custom_plan'), ('enable_seqscan', 'off'),
               ('enable_bitmapscan', 'off'), ('enable_hashjoin', 'off'),
               ('enable_mergejoin', 'off')) as option(name, value);

-- name: complete
-- Ends attempts that changed only their jobs. `ids` are sorted, and plan_complete keeps their order;
-- locking the rows first would take a tenth of the time. The subquery hides the status from the
-- planner: it must not choose a partial index, which has another order.
update rag.processing_jobs as job
   set status = 'completed', run_at = null, wait_reason = null, locked_by = null, locked_at = null,
       stage = null, progress = 100, last_error_code = null, last_error_message = null,
       review_reason = null, completed_at = clock_timestamp()
  from unnest(%(ids)b::uuid[], %(fences)b::bigint[]) as ended(id, fence)
 where job.id = ended.id and job.fence = ended.fence and job.status = (select 'processing')
returning job.position;

-- name: finish
-- Ends the attempts of many jobs. `refund` is 1 if the attempt does not count (stop, snooze).
update rag.processing_jobs as job
   set status = ended.status,
       run_at = now() + ended.delay,
       wait_reason = ended.wait_reason,
       attempts = job.attempts - ended.refund,
       locked_by = null, locked_at = null,
       stage = ended.stage,
       progress = case when ended.status = 'completed' then 100 else job.progress end,
       last_error_code = ended.error_code,
       last_error_message = ended.error_message,
       embedding_config = coalesce(ended.embedding_config, job.embedding_config),
       result = coalesce(ended.result, job.result),
       review_reason = ended.review_reason,
       -- Not now(): the transaction began before it stored the results.
       completed_at = case when ended.status <> 'pending' then clock_timestamp() end
  from unnest(%(ids)b::uuid[], %(fences)b::bigint[], %(statuses)b::text[], %(delays)b::interval[],
              %(wait_reasons)b::text[], %(refunds)b::integer[], %(codes)b::text[],
              %(messages)b::text[], %(stages)b::text[], %(configs)b::jsonb[], %(results)b::jsonb[],
              %(review_reasons)b::text[])
       as ended(id, fence, status, delay, wait_reason, refund, error_code, error_message, stage,
                embedding_config, result, review_reason)
 where job.id = ended.id and job.fence = ended.fence and job.status = 'processing'
returning job.id;

-- name: report_progress
-- Returns the jobs still held; the rest were cancelled, deleted or recovered.
with held as materialized (
    select job.id, seen.stage, seen.progress,
           (job.stage, job.progress) is distinct from (seen.stage, seen.progress::smallint) as changed
      from rag.processing_jobs as job
      join unnest(%(ids)b::uuid[], %(fences)b::bigint[], %(stages)b::text[], %(progress)b::integer[])
           as seen(id, fence, stage, progress)
        on job.id = seen.id and job.fence = seen.fence
     where job.status = 'processing'
     order by job.id
       for update of job
), changed as (
    update rag.processing_jobs as job
       set stage = held.stage, progress = greatest(job.progress, held.progress)
      from held
     where job.id = held.id and held.changed
)
select id from held;

-- name: recover
-- Recovers jobs of stale workers. One statement checks job state and heartbeat by the database's
-- clock. A job without attempts left fails, so that a job that kills its workers stops.
-- The rest back off with full jitter, so that one worker does not get them all at once.
with stale as materialized (
    select job.id
      from rag.processing_jobs as job
      left join rag.workers as worker on worker.id = job.locked_by
     where job.status = 'processing'
       and (worker.id is null or worker.heartbeat_at < now() - %(stale_after)s::interval)
     order by job.id
     limit 1000
       for update of job skip locked)
update rag.processing_jobs as job
   set status = case when job.attempts >= job.max_attempts then 'failed' else 'pending' end,
       completed_at = case when job.attempts >= job.max_attempts then now() end,
       run_at = case when job.attempts < job.max_attempts then now() + random() * least(
           job_type.backoff_cap, job_type.backoff_base * 2 ^ least(job.attempts - 1, 30)) end,
       wait_reason = case when job.attempts < job.max_attempts then 'retry' end,
       fence = job.fence + 1, locked_by = null, locked_at = null,
       last_error_code = 'worker_lost',
       last_error_message = 'the worker stopped answering while it held this job'
  from stale, rag.job_types as job_type
 where job.id = stale.id and job_type.type = job.type
returning job.id, job.knowledge_source_id, job.status, job.attempts, job.type;

-- name: release_abandoned
-- Jobs locked by us that we do not run: the response to a claim was lost, or we gave up a lease
-- that was still valid. The 5 seconds exclude claims in progress.
with stray as materialized (
    select id from rag.processing_jobs
     where status = 'processing' and locked_by = %(worker)s and id <> all(%(running)s::uuid[])
       and locked_at < now() - interval '5 seconds'
     order by id
       for update skip locked)
update rag.processing_jobs as job
   set status = case when job.attempts >= job.max_attempts then 'failed' else 'pending' end,
       completed_at = case when job.attempts >= job.max_attempts then now() end,
       fence = job.fence + 1, locked_by = null, locked_at = null,
       last_error_code = 'worker_lost',
       last_error_message = 'the worker lost track of this job'
  from stray
 where job.id = stray.id
returning job.id, job.knowledge_source_id, job.status, job.attempts, job.type;

-- name: resume_parents
-- Resumes parents that have no open children left. Skips locked rows: such a parent checks again
-- when its `run_at` is reached.
with parent as materialized (
    select parent.id
      from rag.processing_jobs as parent
     where parent.id = any(%(ids)s) and parent.status = 'pending' and parent.run_at is not null
       and parent.wait_reason in ('pages', 'members')
       and not exists (
            select 1 from rag.processing_jobs as child
             where child.parent_job_id = parent.id and child.status in ('pending', 'processing'))
     order by parent.id
       for update skip locked)
update rag.processing_jobs as job
   set run_at = null, wait_reason = null
  from parent
 where job.id = parent.id;

-- name: resume
-- Makes a delayed job ready. Skips a locked row: that job checks again at its `run_at`.
with waiting as materialized (
    select id from rag.processing_jobs
     where id = %(id)s and status = 'pending' and run_at is not null
       for update skip locked)
update rag.processing_jobs as job
   set run_at = null, wait_reason = null
  from waiting
 where job.id = waiting.id;

-- name: open_children
select count(*) from rag.processing_jobs
 where parent_job_id = %(id)s and status in ('pending', 'processing', 'review_needed');
