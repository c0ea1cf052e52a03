-- Rechunk documents from their stored text, one at a time.

-- name: count_outdated
select count(*) as documents,
       count(*) filter (where document.chunking <> %(chunking)s::jsonb) as open
  from rag.documents as document
 where document.source_id = %(source_id)s
   and (document.deleted_at is null or document.held_by_job_id is not null);

-- name: next
-- Includes versions held for review: publishing makes them searchable.
select document.id, document.application_id, document.source_id, document.uri,
       document.title,
       case when source.type = 'file' and document.uri = source.uri then source.name end as source_name,
       coalesce(document.metadata ->> 'author', document.metadata ->> 'from') as author,
       document.text, document.furniture, document.media_type, document.chunking,
       document.pages, document.coverage,
       document.error_code, document.updated_at, document.held_by_job_id is not null as is_held
  from rag.documents as document
  join rag.knowledge_sources as source on source.id = document.source_id
 where document.source_id = %(source_id)s and source.deleted_at is null
   and (document.deleted_at is null or document.held_by_job_id is not null)
   and document.chunking <> %(chunking)s::jsonb
   and (%(after)s::uuid is null or document.id > %(after)s)
 order by document.id
 limit 1;

-- name: lock_source
select id from rag.knowledge_sources where id = %(id)s and deleted_at is null for no key update;

-- name: lock_document
-- Only if unchanged since it was read. The counts are read under the lock.
select chunk_count, token_count, held_by_job_id is not null as is_held
  from rag.documents
 where id = %(id)s and updated_at = %(updated_at)s
   and (deleted_at is null or held_by_job_id is not null)
   for no key update;

-- name: update_document
update rag.documents
   set chunking = %(chunking)s, text = %(text)s, furniture = %(furniture)s, chunk_count = %(chunks)s, token_count = %(tokens)s,
       embedding_model_id = %(model_id)s, status = %(status)s, error_code = %(error_code)s,
       language = %(language)s, terms_indexed = %(terms_indexed)s, updated_at = now()
 where id = %(id)s;

-- name: mark
-- Its chunks are as the settings say; only the digest of the furniture of its site is another.
update rag.documents set chunking = %(chunking)s where id = %(id)s;

-- name: add_counts
-- Keeps the source's model, because its other documents may still have vectors of that model.
update rag.knowledge_sources
   set chunk_count = chunk_count + %(chunks)s, token_count = token_count + %(tokens)s,
       updated_at = now()
 where id = %(source_id)s;

-- name: save_progress
update rag.processing_jobs set payload = %(payload)s::jsonb where id = %(job_id)s;
