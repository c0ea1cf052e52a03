-- What people see of jobs. Which blob a job reads is nobody's business.

-- name: get
select job.id, job.type, job.status, job.stage, job.progress, job.attempts, job.max_attempts,
       job.priority, job.knowledge_source_id, job.batch_id, job.parent_job_id,
       job.payload - 'blobKey' as payload, job.result, job.embedding_config,
       job.last_error_code, job.last_error_message, job.run_at,
       case when job.status = 'pending' and (
                 job_type.is_paused or not job_type.is_enabled or exists (
                    select 1 from rag.worker_config where key = 'paused' and value = 'true'))
            then 'paused' else job.wait_reason end as wait_reason,
       job.created_at, job.started_at, job.completed_at, worker.heartbeat_at, job.position
  from rag.processing_jobs as job
  join rag.job_types as job_type on job_type.type = job.type
  left join rag.workers as worker on worker.id = job.locked_by
 where job.application_id = %(application_id)s and job.id = %(id)s;

-- name: list
select job.id, job.type, job.status, job.stage, job.progress, job.attempts, job.max_attempts,
       job.priority, job.knowledge_source_id, job.batch_id, job.parent_job_id,
       job.payload - 'blobKey' as payload, job.result, job.embedding_config,
       job.last_error_code, job.last_error_message, job.run_at,
       case when job.status = 'pending' and (
                 job_type.is_paused or not job_type.is_enabled or exists (
                    select 1 from rag.worker_config where key = 'paused' and value = 'true'))
            then 'paused' else job.wait_reason end as wait_reason,
       job.created_at, job.started_at, job.completed_at, worker.heartbeat_at, job.position
  from rag.processing_jobs as job
  join rag.job_types as job_type on job_type.type = job.type
  left join rag.workers as worker on worker.id = job.locked_by
 where job.application_id = %(application_id)s
   and (%(status)s::text is null or job.status = %(status)s)
   and (%(type)s::text is null or job.type = %(type)s)
   and (%(source_id)s::uuid is null or job.knowledge_source_id = %(source_id)s)
   and (%(batch_id)s::uuid is null or job.batch_id = %(batch_id)s)
   and (%(error_code)s::text is null or job.last_error_code = %(error_code)s)
   and (%(before)s::bigint is null or job.position < %(before)s)
 order by job.position desc
 limit %(limit)s;

-- name: logs
select attempt, level, stage, message, details, duration_ms, created_at
  from rag.job_logs
 where job_id = %(job_id)s
 order by id;
