-- Approve or reject jobs that wait for a review.

-- name: approve
with asked as materialized (
    select id, review_reason from rag.processing_jobs
     where application_id = %(application_id)s and id = %(id)s and status = 'review_needed'
       for update)
update rag.processing_jobs as job
   set status = 'completed', progress = 100, completed_at = now(), run_at = null,
       wait_reason = null, review_reason = null, last_error_code = null, last_error_message = null
  from asked
 where job.id = asked.id
returning job.id, job.knowledge_source_id, job.attempts, asked.review_reason as reason;

-- name: reject
-- The code is `rejected`, not `cancelled`: the other results of the run stay. The fence need not
-- move, since no worker holds the job.
with asked as materialized (
    select id, review_reason from rag.processing_jobs
     where application_id = %(application_id)s and id = %(id)s and status = 'review_needed'
       for update)
update rag.processing_jobs as job
   set status = 'cancelled', completed_at = now(), run_at = null, wait_reason = null,
       review_reason = null, last_error_code = 'rejected', last_error_message = 'rejected'
  from asked
 where job.id = asked.id
returning job.id, job.knowledge_source_id, job.attempts, asked.review_reason as reason;

-- name: lock_run
-- The crawl with this root job, if its removals are held.
select id, source_id
  from rag.crawls
 where job_id = %(job_id)s and (digest ->> 'removalsHeld')::integer > 0
   for no key update;
