-- What bulk actions do to jobs. Never prepared where they take a filter.

-- name: refusals
-- Jobs of `ids` that match a filter, and why the action leaves them alone; null: it does not. Of
-- built-in types, only jobs of the current run of a source can be retried (source_control.sql: retryable).
select job.id, case %(action)s::text
       when 'cancel' then
          case when job.type = 'purge'
                    or job.status not in ('pending', 'processing', 'review_needed')
               then 'not_cancellable' end
       when 'retry' then
          case when job.status not in ('failed', 'cancelled') then 'not_retryable'
               when not (job.knowledge_source_id is null or job.type = 'purge'
                         or exists (
                            select from rag.knowledge_sources as source
                              join rag.job_types as job_type on job_type.type = job.type
                             where source.id = job.knowledge_source_id
                               and source.deleted_at is null
                               and (not job_type.is_built_in or job.type = 'rechunk'
                                    or source.current_job_id in (job.id, job.parent_job_id))))
               then 'superseded' end
       when 'delete' then
          case when job.status not in ('completed', 'failed', 'cancelled') then 'not_ended' end
       end as reason
  from rag.filtered_jobs(
          %(application_id)s, %(ids)s, %(status)s, %(type)s, %(source_id)s, %(batch_id)s,
          %(parent_id)s, %(error_code)s, %(since)s, %(pattern)s, %(metadata)s,
          %(collection_id)s) as job
 where job.type <> 'bulk';

-- name: delete
with chosen as materialized (
    select id from rag.processing_jobs
     where application_id = %(application_id)s and id = any(%(ids)s)
       and status in ('completed', 'failed', 'cancelled')
     order by id
       for update)
delete from rag.processing_jobs as job using chosen where job.id = chosen.id
returning job.id;
