-- Jobs and their logs, as the API returns them. Lists and counts are never prepared: the best index
-- depends on the values. A generic plan took a second where a custom plan took 10 ms.

-- name: get
select * from rag.job_views where application_id = %(application_id)s and id = %(id)s;

-- name: matching
rag.matching_jobs(
          application_id => %(application_id)s, status => %(status)s, type => %(type)s,
          source_id => %(source_id)s, batch_id => %(batch_id)s, parent_id => %(parent_id)s,
          error_code => %(error_code)s, before => %(before)s, most => %(most)s)

-- name: newest
rag.newest_jobs(
          application_id => %(application_id)s, status => %(status)s, type => %(type)s,
          before => %(before)s, most => %(most)s)

-- name: list
select job.*
  from {jobs} as page
  join rag.job_views as job on job.id = page.id
 order by page.position desc;

-- name: list_ids
select page.id, page.position
  from {jobs} as page
 order by page.position desc;

-- name: open_counts
-- Jobs that wait for children are left out: the children are counted. Jobs with the same error code
-- have nearly the same message, so one message stands for all.
with held as materialized (
    select type, reason from rag.held_job_types)
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
       and (%(status)s::text is null or job.status = %(status)s)
       and (%(type)s::text is null or job.type = %(type)s)
       and (%(source_id)s::uuid is null or job.knowledge_source_id = %(source_id)s)
       and (%(batch_id)s::uuid is null or job.batch_id = %(batch_id)s)
       and (%(parent_id)s::uuid is null or job.parent_job_id = %(parent_id)s)
       and (%(error_code)s::text is null or job.last_error_code = %(error_code)s)) as job
 group by job.status, job.type, job.stage, job.wait_reason, job.last_error_code
 order by count desc, job.status, job.type, job.stage, job.wait_reason, job.last_error_code;

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
