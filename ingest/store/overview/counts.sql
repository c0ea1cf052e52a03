-- Counts of an application's jobs. Each uses an index and stops at %(bound)s. A job that has ended
-- is read only if it failed within a day.

-- name: limit_time
set local statement_timeout = '5s';

-- name: types
-- Jobs of each type; `reason`: why none of them may start now. Within a type, jobs are ordered by
-- priority, so the oldest is the oldest of the first of each priority.
select held.type, held.reason, job_type.is_paused, job_type.is_enabled,
       (select count(*) from (
            select from (values (false), (true)) as background(is_background)
             cross join lateral (
                select from rag.processing_jobs as job
                 where job.status = 'pending' and job.run_at is null and job.type = held.type
                   and (job.priority < 0) = background.is_background
                   and job.application_id = %(application_id)s
                 limit %(bound)s) as found
             limit %(bound)s) as bounded) as ready,
       (select count(*) from rag.processing_jobs as job
         where job.status = 'processing' and job.type = held.type
           and job.application_id = %(application_id)s) as running,
       (select extract(epoch from now() - min(first.created_at))::float8
          from (values (false), (true)) as background(is_background)
         cross join lateral (
            with recursive level as (
                (select job.priority, job.created_at
                   from rag.processing_jobs as job
                  where job.status = 'pending' and job.run_at is null and job.type = held.type
                    and (job.priority < 0) = background.is_background
                    and job.application_id = %(application_id)s
                  order by job.priority desc, job.position
                  limit 1)
                union all
                select next.priority, next.created_at
                  from level
                 cross join lateral (
                    select job.priority, job.created_at
                      from rag.processing_jobs as job
                     where job.status = 'pending' and job.run_at is null and job.type = held.type
                       and (job.priority < 0) = background.is_background
                       and job.application_id = %(application_id)s
                       and job.priority < level.priority
                     order by job.priority desc, job.position
                     limit 1) as next)
            select created_at from level) as first) as oldest_seconds
  from rag.held_job_types as held
  join rag.job_types as job_type on job_type.type = held.type
 order by held.type;

-- name: waiting
-- By reason. Handlers may use any: up to %(most)s, found one after the other in the index.
with recursive reason as (
    (select coalesce(job.wait_reason, 'scheduled') as name
       from rag.processing_jobs as job
      where job.application_id = %(application_id)s
        and job.status = 'pending' and job.run_at is not null
      order by coalesce(job.wait_reason, 'scheduled')
      limit 1)
    union all
    select next.name
      from reason
     cross join lateral (
        select coalesce(job.wait_reason, 'scheduled') as name
          from rag.processing_jobs as job
         where job.application_id = %(application_id)s
           and job.status = 'pending' and job.run_at is not null
           and coalesce(job.wait_reason, 'scheduled') > reason.name
         order by coalesce(job.wait_reason, 'scheduled')
         limit 1) as next)
select listed.name as reason,
       (select count(*) from (
            select from rag.processing_jobs as job
             where job.application_id = %(application_id)s
               and job.status = 'pending' and job.run_at is not null
               and coalesce(job.wait_reason, 'scheduled') = listed.name
             limit %(bound)s) as bounded) as jobs
  from (select name from reason limit %(most)s) as listed
 order by jobs desc, reason;

-- name: failures
-- Of the last 24 hours, by error code; if there are more, of the newest.
select coalesce(newest.last_error_code, 'internal') as code, count(*) as jobs
  from (
    select job.last_error_code
      from rag.processing_jobs as job
     where job.application_id = %(application_id)s and job.status = 'failed'
       and job.completed_at > now() - interval '24 hours'
     order by job.completed_at desc
     limit %(bound)s) as newest
 group by coalesce(newest.last_error_code, 'internal')
 order by jobs desc, code;

-- name: reviews
select count(*) from (
    select from rag.processing_jobs as job
     where job.application_id = %(application_id)s and job.status = 'review_needed'
     limit %(bound)s) as bounded;

-- name: lanes
-- Providers that pause or fail by themselves. A failing one is tried again within a minute.
select lane, case when paused_until > now() then pause_reason end as reason,
       case when paused_until > now() then paused_until end as paused_until,
       failing_since, case when failing_since is not null then error_code end as error_code
  from rag.lanes
 where lane not like 'type:%%'
   and (paused_until > now() or failing_since is not null)
   and paused_until > now() - interval '10 minutes'
 order by lane
 limit 100;
