-- Counts over the whole installation, for operators. Each count uses a partial index, so completed
-- jobs are never read. Counts stop at %(bound)s, so that none takes long.

-- name: bound
set local statement_timeout = '5s';

-- name: types
-- `due`: delayed jobs that become ready within a minute.
-- `overdue`: running for longer than a worker allows, so the worker lost track of them.
select job_type.type, job_type.is_enabled and not job_type.is_paused as is_on,
       job_type.max_concurrent, job_type.rate_per_minute,
       (select count(*) from (
            select from rag.processing_jobs as job
             where job.status = 'pending' and job.run_at is null and job.type = job_type.type
             limit %(bound)s) as bounded) as ready,
       (select extract(epoch from now() - job.created_at)::float8 from rag.processing_jobs as job
         where job.status = 'pending' and job.run_at is null and job.type = job_type.type
         order by job.position limit 1) as oldest_seconds,
       coalesce(soon.count, 0) as due,
       running.count as processing, running.overdue,
       (select count(*) from (
            select from rag.processing_jobs as job
             where job.status = 'failed' and job.type = job_type.type
             limit %(bound)s) as bounded) as failed,
       (select count(*) from (
            select from rag.processing_jobs as job
             where job.status = 'review_needed' and job.type = job_type.type
             limit %(bound)s) as bounded) as review_needed
  from rag.job_types as job_type
 cross join lateral (
    select count(*), count(*) filter (
               where job.started_at < now() - job_type.timeout - interval '5 minutes') as overdue
      from rag.processing_jobs as job
     where job.status = 'processing' and job.type = job_type.type) as running
  left join (
    select bounded.type, count(*) from (
        select job.type from rag.processing_jobs as job
         where job.status = 'pending' and job.run_at is not null
           and job.run_at <= now() + interval '1 minute'
         limit %(bound)s) as bounded
     group by bounded.type) as soon on soon.type = job_type.type
 order by job_type.type;

-- name: waiting
-- Handlers may use any reason; unknown ones count as `other`.
select bounded.type, bounded.reason, count(*) as jobs
  from (
    select job.type,
           case when job.wait_reason = any(%(reasons)s) then job.wait_reason else 'other' end as reason
      from rag.processing_jobs as job
     where job.status = 'pending' and job.run_at is not null
     limit %(bound)s) as bounded
 group by bounded.type, bounded.reason
 order by bounded.type, bounded.reason;

-- name: lanes
select lane, coalesce(greatest(extract(epoch from paused_until - now()), 0), 0)::float8 as paused_seconds,
       failures, case when failing_since is not null then error_code end as failing_code
  from rag.lanes
 where lane not like 'type:%%'
   -- A paused lane is tried again within a minute; the lane of a replaced key is not.
   and (failing_since is null or paused_until > now() - interval '10 minutes')
 order by lane
 limit 100;

-- name: installation
select (select count(*) from (
            select from rag.webhook_events where processed_at is null limit %(bound)s) as bounded) as inbox,
       (select count(*) from (
            select from rag.webhook_deliveries where status = 'pending' limit %(bound)s) as bounded)
         as deliveries,
       (select count(*) from rag.webhook_endpoints
         where is_enabled and failing_since is not null) as endpoints_failing,
       (select count(*) from rag.webhook_endpoints
         where not is_enabled and disabled_reason is not null) as endpoints_disabled,
       (select count(*) from (
            select from rag.upload_batches where completed_at is null limit %(bound)s) as bounded)
         as open_batches,
       (select count(*) from (
            select from rag.embeddings_fresh
            union all
            select from rag.embedding_models as model
              join only rag.embeddings as staged on staged.model_id = model.id
               and staged.generation = model.build_generation
             limit %(bound)s) as bounded) as fresh_vectors,
       exists (select from rag.worker_config where key = 'paused' and value = 'true') as is_paused,
       exists (select from rag.lanes
                where %(embedder)s in (lane, split_part(lane, '#', 1))
                  and (paused_until > now() + interval '1 minute'
                       or (failing_since < now() - interval '1 minute'
                           and paused_until > now() - interval '2 minutes'))) as embedder_is_paused;

-- name: oldest_ready
-- Types that are enabled and not paused; null if nothing is ready.
select extract(epoch from now() - min(job.created_at))::float8
  from rag.job_types as job_type
 cross join lateral (
    select job.created_at from rag.processing_jobs as job
     where job.status = 'pending' and job.run_at is null and job.type = job_type.type
     order by job.position limit 1) as job
 where job_type.is_enabled and not job_type.is_paused
   and not exists (select from rag.worker_config where key = 'paused' and value = 'true');
