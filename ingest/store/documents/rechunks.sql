-- Rechunk documents from their stored text, one at a time.

-- name: count_outdated
select count(*) as documents,
       count(*) filter (where document.chunking is distinct from %(chunking)s::jsonb) as open
  from rag.documents as document
 where document.source_id = %(source_id)s
   and (document.deleted_at is null or document.held_by is not null);

-- name: next
-- Includes versions held for review: publishing makes them searchable.
select document.id, document.application_id, document.source_id, document.uri,
       document.media_type, document.text, document.pages, document.coverage,
       document.error_code, document.updated_at, document.held_by is not null as is_held
  from rag.documents as document
  join rag.knowledge_sources as source on source.id = document.source_id
 where document.source_id = %(source_id)s and source.deleted_at is null
   and (document.deleted_at is null or document.held_by is not null)
   and document.chunking is distinct from %(chunking)s::jsonb
   and (%(after)s::uuid is null or document.id > %(after)s)
 order by document.id
 limit 1;

-- name: lock_source
select id from rag.knowledge_sources where id = %(id)s and deleted_at is null for no key update;

-- name: lock_document
-- Only if unchanged since it was read. The counts are read under the lock.
select chunk_count, token_count, held_by is not null as is_held
  from rag.documents
 where id = %(id)s and updated_at = %(updated_at)s
   and (deleted_at is null or held_by is not null)
   for no key update;

-- name: update_document
update rag.documents
   set chunking = %(chunking)s, chunk_count = %(chunks)s, token_count = %(tokens)s,
       embedding_model_id = %(model_id)s, status = %(status)s, error_code = %(error_code)s,
       updated_at = now()
 where id = %(id)s;

-- name: add_counts
-- Leaves the source's model: its other documents may still have vectors of that one.
update rag.knowledge_sources
   set chunk_count = chunk_count + %(chunks)s, token_count = token_count + %(tokens)s,
       updated_at = now()
 where id = %(source_id)s;

-- name: save_progress
update rag.processing_jobs set payload = %(payload)s where id = %(job_id)s;

-- name: stored_file
-- The searchable version of a file, unless an open run will rechunk it anyway.
select source.blob_key, encode(source.content_hash, 'hex') as content_hash, source.size_bytes
  from rag.knowledge_sources as source
 where source.id = %(source_id)s and source.type = 'file' and source.deleted_at is null
   and source.blob_key is not null and source.uri = %(uri)s
   and not exists (
        select 1 from rag.processing_jobs as job
         where job.id = source.current_job_id
           and job.status in ('pending', 'processing', 'review_needed'));

-- name: begin_run
update rag.knowledge_sources
   set current_job_id = %(job_id)s, status = 'pending', error_code = null, error_message = null,
       updated_at = now()
 where id = %(source_id)s;
