-- Jobs as the API returns them. The payload is left out: it names internal blobs.

-- name: held
-- Why ready jobs of a type do not start, other than a lack of free slots. Same rules as the claim
-- (claims.sql).
with held as materialized (
    select job_type.type,
           case
             when job_type.is_paused or not job_type.is_enabled or exists (
                select 1 from rag.worker_config where key = 'paused' and value = 'true')
             then 'paused'
             when running.count >= job_type.max_concurrent then 'max_concurrent'
             when least(size.burst, lane.requests + rate.per_second
                   * extract(epoch from greatest(clock_timestamp() - lane.refilled_at, '0'))) < 1
             then 'rate_limited'
           end as reason
      from rag.job_types as job_type
     cross join lateral (
        select count(*) from rag.processing_jobs as job
         where job.status = 'processing' and job.type = job_type.type
           and job_type.max_concurrent is not null) as running
      left join rag.lanes as lane
        on lane.lane = 'type:' || job_type.type and job_type.rate_per_minute is not null
     cross join lateral (
        select greatest(job_type.rate_per_minute / 10, 1) as burst) as size
     cross join lateral (
        select (job_type.rate_per_minute - size.burst + 1) / 60.0::float8 as per_second) as rate
)

-- name: open_counts
-- Appended to `held`. Jobs that wait for children are left out: the children are counted. Jobs with
-- the same error code have nearly the same message, so one message stands for all.
select job.status, job.type, job.stage, job.wait_reason, job.last_error_code,
       min(job.last_error_message) as last_error_message, count(*) as count, min(job.run_at) as until
  from (
    select job.status, job.type, job.run_at,
           case when job.status = 'pending' then job.last_error_code end as last_error_code,
           job.last_error_message,
           case when job.status = 'processing' then job.stage end as stage,
           case when job.status = 'pending'
                then case when held.reason = 'paused' then held.reason
                          else coalesce(job.wait_reason, held.reason) end
           end as wait_reason
      from rag.processing_jobs as job
      join held on held.type = job.type
     where job.application_id = %(application_id)s and job.status in ('pending', 'processing')
       and (job.wait_reason is null or job.wait_reason not in ('pages', 'members'))
{where}) as job
 group by job.status, job.type, job.stage, job.wait_reason, job.last_error_code
 order by count desc, job.status, job.type, job.stage, job.wait_reason, job.last_error_code;

-- name: job_head
-- Appended to `held`.
select job.id, job.type, job.status, job.stage, job.progress, job.attempts, job.max_attempts,
       job.priority, job.knowledge_source_id, job.batch_id, job.parent_job_id, job.result,
       job.embedding_config, job.last_error_code, job.last_error_message, job.review_reason,
       job.run_at,
       case when job.status = 'pending'
            then case when held.reason = 'paused' then held.reason
                      else coalesce(job.wait_reason, held.reason) end
            else job.wait_reason end as wait_reason,
       job.created_at, job.started_at, job.completed_at,
       case when job.status in ('completed', 'failed')
            then (extract(epoch from job.completed_at - job.started_at) * 1000)::bigint
       end as duration_ms,
       worker.heartbeat_at, job.position
  from (
    select * from {jobs} as job
     where job.application_id = %(application_id)s

-- name: id_head
select job.id, job.position
  from {jobs} as job
 where job.application_id = %(application_id)s

-- name: id_tail
 order by job.position desc
 limit %(limit)s;

-- name: newest
-- The newest jobs of each status and type, merged. More indexes would have to be written on every
-- change of every job. Running jobs are not in that index, but they are few.
(select newest.*
   from unnest(%(statuses)s::text[]) as state(status)
  cross join (select type from rag.job_types where type = coalesce(%(type)s, type)) as kind
  cross join lateral (
     select * from rag.processing_jobs as job
      where job.application_id = %(application_id)s and job.status = state.status
        and job.status <> 'processing' and job.type = kind.type and job.position < %(before)s
      order by job.position desc
      limit %(limit)s) as newest
 union all
 select running.* from (
     select * from rag.processing_jobs as job
      where 'processing' = any(%(statuses)s::text[]) and job.status = 'processing'
        and job.application_id = %(application_id)s and job.position < %(before)s
        and job.type = coalesce(%(type)s, job.type)
      order by job.position desc
      limit %(limit)s) as running)

-- name: where_id
       and job.id = %(id)s

-- name: where_status
       and job.status = %(status)s

-- name: where_type
       and job.type = %(type)s

-- name: where_source_id
       and job.knowledge_source_id = %(source_id)s

-- name: where_batch_id
       and job.batch_id = %(batch_id)s

-- name: where_parent_id
       and job.parent_job_id = %(parent_id)s

-- name: where_error_code
       and job.last_error_code = %(error_code)s

-- name: where_before
       and job.position < %(before)s

-- name: job_tail
     order by job.position desc
     limit %(limit)s) as job
  join held on held.type = job.type
  left join rag.workers as worker on worker.id = job.locked_by
 order by job.position desc;

-- name: logs
select id, attempt, level, stage, message, details, duration_ms, created_at
  from rag.job_logs
 where job_id = %(job_id)s and id > %(after)s
 order by id
 limit %(limit)s;

-- name: newest_logs
select * from (
    select id, attempt, level, stage, message, details, duration_ms, created_at
      from rag.job_logs
     where job_id = %(job_id)s
     order by id desc
     limit %(limit)s) as newest
 order by id;
