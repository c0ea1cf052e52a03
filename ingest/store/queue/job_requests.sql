-- Jobs queued through the API.

-- name: by_key
select id,
       type = %(type)s and payload = %(payload)s
       and knowledge_source_id is not distinct from %(source_id)s as is_same
  from rag.processing_jobs
 where application_id = %(application_id)s and idempotency_key = %(idempotency_key)s;

-- name: source
select id from rag.knowledge_sources
 where application_id = %(application_id)s and id = %(source_id)s and deleted_at is null;

-- name: waiting_duplicate
-- A job that has not started and does the same work, with no later start and no lower priority.
select id from rag.processing_jobs
 where application_id = %(application_id)s and knowledge_source_id = %(source_id)s
   and type = %(type)s and status = 'pending' and attempts = 0 and payload = %(payload)s
   and priority >= %(priority)s
   and (run_at is null or run_at <= now() + coalesce(%(delay)s::interval, '0'))
 order by position
 limit 1;

-- name: time_until
select greatest(%(time)s - now(), '0') as delay;
