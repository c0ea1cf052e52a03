-- User actions on jobs.

-- name: cancel
-- Takes effect at once: the fence moves, so a worker running the job can no longer write. Children
-- are cancelled too. Cancelling by source leaves `rechunk` jobs: the source's next run may find the
-- file unchanged, and would then keep the old chunks.
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
-- Resets the attempt count, since a user asked for the retry.
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
       -- An uploaded file is read again, including its members (members.sql).
       payload = job.payload - %(awaits_members)s::text
  from chosen
 where job.id = chosen.id
returning job.id, job.knowledge_source_id;

-- name: start_now
-- Makes a delayed job ready. A locked row is skipped: it is being promoted or ended.
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
-- Blobs of open jobs, and of jobs that may be retried: the current root job of a source and its
-- failed or cancelled children.
select distinct job.blob_key as key
  from rag.job_files as job
 where job.is_file_job and job.blob_key = any(%(keys)s)
   and (job.status in ('pending', 'processing', 'review_needed')
        or exists (select 1 from rag.knowledge_sources as source
                    where source.id = job.knowledge_source_id
                      and source.deleted_at is null
                      and (source.current_job_id = job.id
                           or (source.current_job_id = job.parent_job_id
                               and job.status in ('failed', 'cancelled')))));
