-- What a source waits for also while a pause or a limit of its job's type keeps it from starting, and
-- which of its jobs it is.

-- Within a statement it may be taken as stable, though buckets refill by the clock: a view with a
-- volatile function is computed for all sources before some are chosen.
create function rag.held_types() returns table (type text, reason text)
language sql stable rows 20
as $$
select held.type, held.reason from rag.held_job_types as held
$$;

create or replace view rag.source_views as
select source.id, source.application_id, source.batch_id, source.type, source.name, source.uri,
       source.status, source.error_code, source.error_message, source.metadata, source.coverage,
       source.chunk_count, source.token_count, source.size_bytes,
       encode(source.content_hash, 'hex') as content_hash, source.duplicate_of,
       source.current_job_id as job_id, source.rescrape_cron, source.rescrape_timezone,
       source.next_rescrape_at, source.crawl_settings, source.chunking as own_chunking,
       (select application.settings -> 'chunking' from app.applications as application
         where application.id = source.application_id) as application_chunking,
       source.event_seq, source.created_at, source.updated_at,
       -- Why an open source waits, other than for a free worker: what its root job waits for, or a
       -- child. That children wait for each other at a limit of their type is no news.
       case when source.status in ('pending', 'processing') then (
          -- While a pause or a limit of its type holds a job, its last error is not the reason.
          select jsonb_build_object('reason', held.reason, 'job_id', job.id,
                                    'code', null, 'message', null, 'until', null)
                 || case when held.reason = 'paused' or job.run_at is null then '{}' else
                    jsonb_build_object('reason', coalesce(job.wait_reason, 'scheduled'),
                                       'code', job.last_error_code,
                                       'message', job.last_error_message, 'until', job.run_at) end
            from (select root.* from rag.processing_jobs as root
                   where root.id = source.current_job_id
                  union all
                  select child.* from rag.processing_jobs as child
                   where child.parent_job_id = source.current_job_id) as job
            join rag.held_types() as held on held.type = job.type
           where job.status = 'pending'
             and (held.reason = 'paused'
                  or (job.run_at is null and job.id = source.current_job_id
                      and held.reason is not null)
                  or (job.run_at is not null
                      and coalesce(job.wait_reason, 'scheduled') not in ('pages', 'members')))
           limit 1) end as waiting,
       array(select member.collection_id from rag.collection_sources as member
              where member.source_id = source.id order by member.collection_id) as collection_ids
  from rag.knowledge_sources as source
 where source.deleted_at is null;
