-- The queue. Lock order everywhere: jobs before sources, each by id.

-- name: enqueue
-- One statement however many jobs; a job whose idempotency key exists is not inserted again.
insert into rag.processing_jobs
    (id, application_id, knowledge_source_id, batch_id, parent_job_id, type, priority, payload,
     idempotency_key, user_id, max_attempts, run_at, wait_reason)
select new.id, new.application_id, new.knowledge_source_id, new.batch_id, new.parent_job_id,
       new.type, new.priority, new.payload, new.idempotency_key, new.user_id, job_type.max_attempts,
       now() + new.delay, case when new.delay is not null then 'scheduled' end
  from unnest(%(ids)s::uuid[], %(application_ids)s::uuid[], %(source_ids)s::uuid[],
              %(batch_ids)s::uuid[], %(parent_ids)s::uuid[], %(types)s::text[],
              %(priorities)s::integer[], %(payloads)s::jsonb[], %(keys)s::text[],
              %(user_ids)s::text[], %(delays)s::interval[]) with ordinality
       as new(id, application_id, knowledge_source_id, batch_id, parent_job_id, type, priority,
              payload, idempotency_key, user_id, delay, n)
  join rag.job_types as job_type on job_type.type = new.type
 order by new.n
on conflict (application_id, idempotency_key) where idempotency_key is not null do nothing
returning id;

-- name: by_idempotency_key
select id, idempotency_key as key
  from rag.processing_jobs
 where application_id = any(%(application_ids)s) and idempotency_key = any(%(keys)s);

-- name: wake
select pg_notify('rag_jobs', %(payload)s);

-- name: claim
-- Fair and constant in the backlog. `band`: the highest priority that any claimable type has.
-- `tenant`: the next applications after this worker's cursor that have work in the band, by jumping
-- from one to the next in the ready index; when fewer are left behind the cursor than wanted, the
-- scan starts over from the first one. Each gets an equal share of the batch; of the types of one
-- application, that with the oldest job comes first.
-- The picks are materialized: a plan that re-ran them would claim more than was asked for.
with recursive lane as materialized (
    select claimable.type, top.priority
      from unnest(%(types)s::text[]) as claimable(type)
     cross join lateral (
        select job.priority from rag.processing_jobs as job
         where job.status = 'pending' and job.run_at is null and job.type = claimable.type
         order by job.priority desc limit 1) as top
), band as materialized (
    select lane.type, lane.priority from lane
     where lane.priority = (select max(priority) from lane)
), after_cursor as (
    select band.type, band.priority, next.application_id, next.position, 1 as n
      from band
     cross join lateral (
        select job.application_id, job.position from rag.processing_jobs as job
         where job.status = 'pending' and job.run_at is null and job.type = band.type
           and job.priority = band.priority and job.application_id > %(cursor)s
         order by job.application_id, job.position limit 1) as next
    union all
    select seen.type, seen.priority, next.application_id, next.position, seen.n + 1
      from after_cursor as seen
     cross join lateral (
        select job.application_id, job.position from rag.processing_jobs as job
         where job.status = 'pending' and job.run_at is null and job.type = seen.type
           and job.priority = seen.priority and job.application_id > seen.application_id
         order by job.application_id, job.position limit 1) as next
     where seen.n < %(batch)s
), from_start as (
    select band.type, band.priority, next.application_id, next.position, 1 as n
      from band
     cross join lateral (
        select job.application_id, job.position from rag.processing_jobs as job
         where job.status = 'pending' and job.run_at is null and job.type = band.type
           and job.priority = band.priority and job.application_id <= %(cursor)s
         order by job.application_id, job.position limit 1) as next
     where (select count(*) from after_cursor) < %(batch)s
    union all
    select seen.type, seen.priority, next.application_id, next.position, seen.n + 1
      from from_start as seen
     cross join lateral (
        select job.application_id, job.position from rag.processing_jobs as job
         where job.status = 'pending' and job.run_at is null and job.type = seen.type
           and job.priority = seen.priority and job.application_id > seen.application_id
           and job.application_id <= %(cursor)s
         order by job.application_id, job.position limit 1) as next
     where seen.n < %(batch)s
), tenant as materialized (
    select type, priority, application_id, position, 0 as lap from after_cursor
    union all
    select type, priority, application_id, position, 1 as lap from from_start
     order by lap, application_id, position
     limit %(batch)s
), due as materialized (
    select pick.id
      from tenant
     cross join lateral (
        select job.id from rag.processing_jobs as job
         where job.status = 'pending' and job.run_at is null and job.type = tenant.type
           and job.priority = tenant.priority and job.application_id = tenant.application_id
         order by job.position
         limit (select ceil(%(batch)s::numeric / greatest(count(*), 1)) from tenant)
         for update skip locked) as pick
     limit %(batch)s
)
update rag.processing_jobs as job
   set status = 'processing', attempts = job.attempts + 1, fence = job.fence + 1,
       locked_by = %(worker)s, locked_at = now(), started_at = now(),
       stage = null, progress = 0, wait_reason = null
  from due
 where job.id = due.id
returning job.id, job.application_id, job.knowledge_source_id, job.batch_id, job.parent_job_id,
          job.type, job.payload, job.priority, job.attempts, job.max_attempts, job.fence,
          job.position;

-- name: promote
-- Jobs whose time has come enter the ready index; those of other promoters are skipped.
with due as materialized (
    select id from rag.processing_jobs
     where status = 'pending' and run_at <= now()
     order by run_at limit 1000
       for update skip locked)
update rag.processing_jobs as job
   set run_at = null, wait_reason = null
  from due
 where job.id = due.id;

-- name: next_due
select extract(epoch from min(run_at) - now())::float8 as seconds
  from rag.processing_jobs
 where status = 'pending' and run_at is not null;

-- name: hold
-- Lock the jobs that are still ours; whoever wants to take them away waits for our commit.
select job.id
  from rag.processing_jobs as job
  join unnest(%(ids)s::uuid[], %(fences)s::bigint[]) as held(id, fence)
    on job.id = held.id and job.fence = held.fence
 where job.status = 'processing'
 order by job.id
   for update of job;

-- name: finish
-- The end of an attempt, for many jobs. `refund` gives the attempt back (stop, snooze).
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
       -- Not now(): that was when the transaction began, before it stored anything.
       completed_at = case when ended.status <> 'pending' then clock_timestamp() end
  from unnest(%(ids)s::uuid[], %(fences)s::bigint[], %(statuses)s::text[], %(delays)s::interval[],
              %(wait_reasons)s::text[], %(refunds)s::integer[], %(codes)s::text[],
              %(messages)s::text[], %(stages)s::text[], %(configs)s::jsonb[], %(results)s::jsonb[])
       as ended(id, fence, status, delay, wait_reason, refund, error_code, error_message, stage,
                embedding_config, result)
 where job.id = ended.id and job.fence = ended.fence and job.status = 'processing'
returning job.id;

-- name: report_progress
-- Answers which jobs are still held: the others were cancelled, deleted or recovered.
with held as materialized (
    select job.id, seen.stage, seen.progress,
           (job.stage, job.progress) is distinct from (seen.stage, seen.progress::smallint) as changed
      from rag.processing_jobs as job
      join unnest(%(ids)s::uuid[], %(fences)s::bigint[], %(stages)s::text[], %(progress)s::integer[])
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
-- Jobs of workers that fell silent. State and silence are judged in this one statement, by the
-- database's clock. Out of attempts: failed, so that a job that kills its workers comes to an end.
-- The others back off with full jitter: the jobs of one dead worker do not all meet the next one.
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

-- name: claimable_types
-- Nothing is claimed while the global pause is on.
select type
  from rag.job_types
 where is_enabled and not is_paused and handler = any(%(handlers)s)
   and not exists (select 1 from rag.worker_config where key = 'paused' and value = 'true');

-- name: release_strays
-- Jobs that are marked as ours though we do not run them: the answer to a claim was lost, or a
-- lease that was given up turned out to be intact. The delay keeps off claims under way.
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

-- name: any_ready
select exists (
    select 1 from unnest(%(types)s::text[]) as claimable(type)
     cross join lateral (
        select 1 from rag.processing_jobs as job
         where job.status = 'pending' and job.run_at is null and job.type = claimable.type
         limit 1) as ready);

-- name: resume_parents
-- A job that waits for its children goes on when none of them is open any more. One that somebody
-- holds is left alone: it looks for itself when its time has come.
with parent as materialized (
    select parent.id
      from rag.processing_jobs as parent
     where parent.id = any(%(ids)s) and parent.status = 'pending' and parent.run_at is not null
       and parent.wait_reason = 'pages'
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
-- A waiting job goes on now. Skips one that somebody holds: it looks for itself later.
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
