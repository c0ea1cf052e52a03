-- What people decide on jobs that wait for a review. Lock order: jobs, then crawls, then sources.

-- name: approve
update rag.processing_jobs
   set status = 'completed', progress = 100, completed_at = now(), run_at = null,
       wait_reason = null, last_error_code = null, last_error_message = null
 where application_id = %(application_id)s and id = %(id)s and status = 'review_needed'
returning id, knowledge_source_id;

-- name: reject
-- Without a code: nobody took the run back, its other results stay. The fence need not move, since
-- nobody holds the job.
update rag.processing_jobs
   set status = 'cancelled', completed_at = now(), run_at = null, wait_reason = null,
       last_error_code = null, last_error_message = 'rejected'
 where application_id = %(application_id)s and id = %(id)s and status = 'review_needed'
returning id, knowledge_source_id;

-- name: lock_run
-- The run whose root job this is, if its removals were held.
select id, source_id
  from rag.crawls
 where job_id = %(job_id)s and (digest ->> 'removalsHeld')::integer > 0
   for no key update;
