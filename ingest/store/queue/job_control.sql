-- What people do to jobs. Lock order as in jobs.sql.

-- name: cancel
-- Final at once, for pending and running jobs: the fence moves, so a running holder can write nothing.
-- With a job go the children that it has put into the queue. To cut a source again is not part of its
-- runs: the next one may find it unchanged, and would leave it as it was.
with chosen as materialized (
    select id from rag.processing_jobs
     where application_id = %(application_id)s
       and (id = any(%(job_ids)s) or parent_job_id = any(%(job_ids)s)
            or (knowledge_source_id = any(%(source_ids)s) and type <> 'rechunk')
            or batch_id = %(batch_id)s)
       and status in ('pending', 'processing', 'review_needed')
       and type <> 'purge'
     order by id
       for update)
update rag.processing_jobs as job
   set status = 'cancelled', completed_at = now(), fence = job.fence + 1,
       locked_by = null, locked_at = null, run_at = null, wait_reason = null,
       review_reason = null, last_error_code = 'cancelled', last_error_message = %(reason)s
  from chosen
 where job.id = chosen.id
returning job.id, job.knowledge_source_id;

-- name: retry
-- A person's decision: the count of attempts starts again.
with chosen as materialized (
    select id from rag.processing_jobs
     where application_id = %(application_id)s
       and (id = any(%(job_ids)s) or batch_id = %(batch_id)s)
       and status = any(%(statuses)s)
     order by id
       for update)
update rag.processing_jobs as job
   set status = 'pending', attempts = 0, run_at = null, wait_reason = null, completed_at = null,
       progress = 0, stage = null, review_reason = null,
       -- Of an uploaded file: it is read again, with what is in it (members.sql).
       payload = job.payload - 'awaitsMembers'
  from chosen
 where job.id = chosen.id
returning job.id, job.knowledge_source_id;

-- name: start_now
-- A job that waits for a time goes on now. One that somebody holds is being promoted or ended.
with chosen as materialized (
    select id from rag.processing_jobs
     where application_id = %(application_id)s and id = %(id)s
       and status = 'pending' and run_at is not null
       for update skip locked)
update rag.processing_jobs as job
   set attempts = 0, run_at = null, wait_reason = null
  from chosen
 where job.id = chosen.id
returning job.last_error_code;

-- name: delete
delete from rag.processing_jobs
 where application_id = %(application_id)s and id = %(id)s
   and status in ('completed', 'failed', 'cancelled');

-- name: blobs_of_jobs
-- Of open jobs, and of those that may be retried: the last job of a source and its failed children.
select distinct job.payload ->> 'blobKey' as key
  from rag.processing_jobs as job
 where job.payload ? 'blobKey' and job.payload ->> 'blobKey' = any(%(keys)s)
   and (job.status in ('pending', 'processing', 'review_needed')
        or exists (select 1 from rag.knowledge_sources as source
                    where source.id = job.knowledge_source_id
                      and source.deleted_at is null
                      and (source.current_job_id = job.id
                           or (source.current_job_id = job.parent_job_id
                               and job.status in ('failed', 'cancelled')))));
