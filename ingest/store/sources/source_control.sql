-- User actions on knowledge sources.

-- name: edit
update rag.knowledge_sources
   set name = coalesce(%(name)s, name), metadata = coalesce(%(metadata)s, metadata),
       updated_at = now()
 where application_id = %(application_id)s and id = %(id)s and deleted_at is null
returning status;

-- name: outdate
-- The name of a file is in the terms of its chunks, which a tick makes anew, and without a title it
-- is embedded with them: no chunk settings are those in force then, so the document is rechunked.
update rag.documents as document
   set terms_indexed = false,
       chunking = case when document.title is null then '{}' else document.chunking end
  from rag.knowledge_sources as source
 where document.source_id = source.id and source.id = %(id)s and source.type = 'file'
   and document.uri = source.uri
returning document.title is null as is_embedded;

-- name: retryable
-- Built-in jobs of a source other than `purge` and `rechunk` can be retried only in its current
-- run: an older run would replace new content with old.
select job.id
  from rag.processing_jobs as job
  join rag.job_types as job_type on job_type.type = job.type
  left join rag.knowledge_sources as source on source.id = job.knowledge_source_id
 where job.application_id = %(application_id)s
   and (job.id = any(%(job_ids)s) or job.batch_id = %(batch_id)s)
   and (job.knowledge_source_id is null or job.type = 'purge'
        or (source.deleted_at is null
            and (not job_type.is_built_in or job.type = 'rechunk'
                 or source.current_job_id in (job.id, job.parent_job_id))));

-- name: owned
select id from rag.knowledge_sources
 where application_id = %(application_id)s and id = any(%(ids)s) and deleted_at is null;

-- name: readable
select id, type, blob_key, content_hash, size_bytes
  from rag.knowledge_sources
 where application_id = %(application_id)s and id = any(%(ids)s) and deleted_at is null
   and rag.can_be_read_again(type, status, blob_key, content_hash)
 order by id
   for no key update;

-- name: mark_documents
-- Pages, and files in files: those that are unchanged are not read otherwise.
update rag.documents as document
   set read_again = true
  from rag.knowledge_sources as source
 where document.source_id = source.id and source.id = any(%(ids)s)
   and (source.type <> 'file' or document.uri <> source.uri)
   and document.deleted_at is null and not document.read_again;

-- name: begin
-- The old content stays searchable until the new replaces it.
update rag.knowledge_sources as source
   set current_job_id = new.job_id, status = 'pending', error_code = null, error_message = null,
       updated_at = now()
  from unnest(%(ids)b::uuid[], %(job_ids)b::uuid[]) as new(id, job_id)
 where source.id = new.id;
