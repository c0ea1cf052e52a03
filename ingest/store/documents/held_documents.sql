-- New versions of files awaiting review: hidden rows of rag.documents.

-- name: drop
-- The delete cascades to their chunks and vectors.
with source as materialized (
    select id from rag.knowledge_sources
     where id in (select source_id from rag.documents where held_by_job_id = any(%(job_ids)s))
     order by id
       for no key update)
delete from rag.documents as document
 using source
 where document.source_id = source.id and held_by_job_id = any(%(job_ids)s);

-- name: drop_replaced
-- Deletes the searchable version. A file inside another file has a uri of its own.
with held as materialized (
    select document.source_id, coalesce(job.document_uri, source.uri) as uri
      from rag.documents as document
      join rag.knowledge_sources as source on source.id = document.source_id
      join rag.job_files as job on job.id = document.held_by_job_id
     where document.held_by_job_id = %(job_id)s)
delete from rag.documents as live
 using held
 where live.source_id = held.source_id and md5(live.uri) = md5(held.uri) and live.uri = held.uri
   and live.held_by_job_id is null;

-- name: publish
-- Its terms have those of the temporary uri.
update rag.documents as document
   set uri = coalesce(job.document_uri, source.uri), held_by_job_id = null, deleted_at = null,
       terms_indexed = false, updated_at = now()
  from rag.knowledge_sources as source, rag.job_files as job
 where document.held_by_job_id = %(job_id)s and source.id = document.source_id
   and job.id = document.held_by_job_id
returning document.source_id, document.content_hash, document.embedding_model_id as model_id,
          document.coverage, document.chunk_count, document.token_count,
          job.document_uri is not null as is_member, job.blob_key, job.size_bytes;

-- name: drop_orphans
-- Job and document change in one transaction, so such rows exist only after a fault.
with orphan as materialized (
    select document.id
      from rag.documents as document
     where document.held_by_job_id is not null
       and not exists (
            select 1 from rag.processing_jobs as job
             where job.id = document.held_by_job_id and job.status = 'review_needed')
     order by document.id limit %(limit)s
       for update skip locked)
delete from rag.documents as document using orphan where document.id = orphan.id;
