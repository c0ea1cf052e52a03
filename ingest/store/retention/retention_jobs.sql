-- Ended jobs. A run (root job and children) expires as a whole, since a source's status derives
-- from all of it. Locked rows are left for the next round.

-- name: list_ended
-- Candidates, oldest end first, each with its run and, if this is the current run of a source, with
-- that source.
select job.id, job.completed_at, job.position, job.root_id, source.id as source_id,
       source.application_id
  from (select ended.id, ended.completed_at, ended.position, ended.knowledge_source_id,
               ended.parent_job_id, coalesce(ended.parent_job_id, ended.id) as root_id
          from rag.processing_jobs as ended
         where ended.completed_at < now() - least(%(jobs)s::interval, %(failed_jobs)s::interval)
           and (%(after_position)s::bigint is null
                or (ended.completed_at, ended.position)
                 > (%(after_time)s::timestamptz, %(after_position)s::bigint))
         order by ended.completed_at, ended.position
         limit %(limit)s) as job
  left join lateral (
    select root.knowledge_source_id from rag.processing_jobs as root
     where root.id = job.parent_job_id limit 1) as root on true
  left join lateral (
    select current.id, current.application_id from rag.knowledge_sources as current
     where current.id = coalesce(root.knowledge_source_id, job.knowledge_source_id)
       and current.current_job_id = job.root_id limit 1) as source on true
 order by job.completed_at, job.position;

-- name: expired_runs
-- Runs without a job that is open, awaits review or ended too recently.
select run.root_id
  from unnest(%(root_ids)s::uuid[]) as run(root_id)
 where not exists (
        select 1
          from (select root.status, root.completed_at from rag.processing_jobs as root
                 where root.id = run.root_id
                 union all
                select child.status, child.completed_at from rag.processing_jobs as child
                 where child.parent_job_id = run.root_id) as job
         where (case when job.status in ('completed', 'cancelled')
                     then job.completed_at < now() - %(jobs)s::interval
                     when job.status = 'failed'
                     then job.completed_at < now() - %(failed_jobs)s::interval end) is not true);

-- name: detach_sources
-- Detaches sources from their current runs: later changes of the jobs no longer affect them. The
-- caller holds the application's lock, which requeuing an ended job requires. A failed or partial
-- source can be retried for as long as failed jobs are kept.
with over as materialized (
    select source.id, counted.total, counted.ends
      from rag.knowledge_sources as source
     cross join lateral (
        select count(*) filter (where job.counts) as total,
               jsonb_build_object(
                   'completed', count(*) filter (where job.counts and job.status = 'completed'),
                   'failed', count(*) filter (where job.counts and job.status = 'failed'),
                   'cancelled', count(*) filter (where job.counts and job.status = 'cancelled'))
                 as ends,
               bool_and(case when job.status = 'failed' or source.status in ('failed', 'partial')
                             then job.completed_at < now() - %(failed_jobs)s::interval
                             else job.completed_at < now() - %(jobs)s::interval end
                        and job.status in ('completed', 'failed', 'cancelled')) as is_over
          -- Counts jobs like progress.sql.
          from (select root.status, root.completed_at,
                       root.status in ('failed', 'cancelled')
                       or not exists (select 1 from rag.processing_jobs as child
                                       where child.parent_job_id = root.id) as counts
                  from rag.processing_jobs as root where root.id = source.current_job_id
                 union all
                select child.status, child.completed_at, true
                  from rag.processing_jobs as child
                 where child.parent_job_id = source.current_job_id) as job) as counted
     where source.id = any(%(source_ids)s) and source.application_id = %(application_id)s
       and source.current_job_id = any(%(root_ids)s) and counted.is_over
       and source.status in ('completed', 'partial', 'failed', 'cancelled')
     order by source.id
       for no key update of source skip locked)
update rag.knowledge_sources as source
   set current_job_id = null,
       ended_job_counts = case when over.total > 0 then over.ends end
  from over
 where source.id = over.id
returning source.id;

-- name: hold
-- Locks the jobs that may still be deleted. A root is deleted last: its children refer to it.
select job.id
  from rag.processing_jobs as job
 where job.id = any(%(ids)s)
   and (job.status in ('completed', 'cancelled')
        and job.completed_at < now() - %(jobs)s::interval
        or job.status = 'failed' and job.completed_at < now() - %(failed_jobs)s::interval)
   and not exists (
        select 1 from rag.processing_jobs as child
         where child.parent_job_id = job.id and child.id <> all(%(ids)s))
 order by job.id
   for update of job skip locked;

-- name: note_pages
-- If a run never finished, only the jobs of its pages know the outcome: copy it.
update rag.crawl_pages as page
   set status = 'failed', updated_at = now(),
       error_code = coalesce(job.last_error_code, page.error_code, job.status),
       error_message = coalesce(job.last_error_message, page.error_message)
  from rag.processing_jobs as job
 where job.id = any(%(ids)s) and job.status in ('failed', 'cancelled')
   and page.job_id = job.id and page.status = 'queued';

-- name: end_runs
update rag.crawls as crawl
   set status = job.status, ended_at = coalesce(crawl.ended_at, job.completed_at),
       is_complete = coalesce(crawl.is_complete, false),
       error_code = coalesce(crawl.error_code, job.last_error_code),
       error_message = coalesce(crawl.error_message, job.last_error_message)
  from rag.processing_jobs as job
 where job.id = any(%(ids)s) and job.status in ('failed', 'cancelled')
   and crawl.job_id = job.id and crawl.status in ('pending', 'running', 'finishing');

-- name: forget
-- The delete cascades to the jobs' logs.
delete from rag.processing_jobs where id = any(%(ids)s);
