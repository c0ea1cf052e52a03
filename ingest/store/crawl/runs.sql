-- name: existing
-- The live source at this address, with its current job and that job's run.
select source.id, source.crawl_settings, crawl.id as crawl_id, crawl.provider,
       job.id as job_id, coalesce(job.status in ('pending', 'processing'), false) as is_open
  from rag.knowledge_sources as source
  left join rag.processing_jobs as job on job.id = source.current_job_id
  left join rag.crawls as crawl on crawl.job_id = job.id
 where source.application_id = %(application_id)s and source.type = %(type)s
   and md5(source.uri) = md5(%(uri)s) and source.uri = %(uri)s and source.deleted_at is null;

-- name: again
-- Like `existing`, but finds the source by id.
select source.id, source.type, source.uri, source.crawl_settings, crawl.id as crawl_id,
       crawl.provider, job.id as job_id,
       coalesce(job.status in ('pending', 'processing'), false) as is_open
  from rag.knowledge_sources as source
  left join rag.processing_jobs as job on job.id = source.current_job_id
  left join rag.crawls as crawl on crawl.job_id = job.id
 where source.application_id = %(application_id)s and source.id = %(id)s
   and source.deleted_at is null;

-- name: insert_source
insert into rag.knowledge_sources
    (id, application_id, type, name, uri, metadata, current_job_id, crawl_settings)
values (%(id)s, %(application_id)s, %(type)s, %(name)s, %(uri)s, %(metadata)s, %(job_id)s,
        %(settings)s);

-- name: update_source
-- Searchable content stays until the new run replaces it.
update rag.knowledge_sources
   set current_job_id = %(job_id)s, status = 'pending', error_code = null, error_message = null,
       metadata = coalesce(%(metadata)s, metadata), crawl_settings = %(settings)s,
       updated_at = now()
 where id = %(id)s;

-- name: update_metadata
update rag.knowledge_sources set metadata = %(metadata)s, updated_at = now() where id = %(id)s;

-- name: insert_crawl
insert into rag.crawls (id, application_id, source_id, job_id, provider, settings)
values (%(id)s, %(application_id)s, %(source_id)s, %(job_id)s, %(provider)s, %(settings)s);

-- name: end_open
-- Open runs of these root jobs or sources. The caller must stop them at the provider, too.
with ended as materialized (
    select id from rag.crawls
     where (job_id = any(%(job_ids)s) or source_id = any(%(source_ids)s))
       and status in ('pending', 'running', 'finishing')
     order by id
       for no key update)
update rag.crawls as crawl
   set status = 'cancelled', ended_at = now(), error_code = 'cancelled', is_complete = false
  from ended
 where crawl.id = ended.id
returning crawl.application_id, crawl.provider, crawl.provider_crawl_id;
