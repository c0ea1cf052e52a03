-- Reading stored sources again, unchanged ones too.

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
