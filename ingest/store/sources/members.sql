-- Members, the files inside an uploaded file: documents of one source, each read by a child of the
-- source's root job, which has the document's uri.

-- name: children
select count(*) as total,
       count(*) filter (where status in ('pending', 'processing')) as open,
       count(*) filter (where type = 'member') as members,
       coalesce(sum(size_bytes) filter (where type = 'member'), 0)::bigint as bytes
  from rag.job_files
 where parent_job_id = %(root_job_id)s;

-- name: lock
select pg_advisory_xact_lock(hashtextextended(%(root_job_id)s::text, 7245110388));

-- name: mark_awaiting
-- A retried run starts from scratch: results of its previous child jobs do not count.
with ended as materialized (
    select id from rag.processing_jobs
     where parent_job_id = %(root_job_id)s and status in ('completed', 'failed', 'cancelled')
     order by id
       for update
), deleted as (
    delete from rag.processing_jobs as job using ended where job.id = ended.id)
update rag.processing_jobs
   set payload = payload || jsonb_build_object(%(awaits_members)s::text, true)
 where id = %(root_job_id)s;

-- name: known
select uri, content_hash, embedding_model_id, status, metadata ? 'attachments' as has_members
  from rag.documents
 where source_id = %(source_id)s and md5(uri) = any(%(uri_digests)s) and deleted_at is null
   and not read_again;

-- name: mark_unchanged
update rag.documents
   set last_seen_job_id = %(root_job_id)s
 where source_id = %(source_id)s and md5(uri) = any(%(uri_digests)s) and deleted_at is null;

-- name: drop_unseen
-- Deletes documents that this run neither stored nor found unchanged. Keeps earlier documents of a
-- file or archive that could not be read.
delete from rag.documents as document
 where document.source_id = %(source_id)s and document.held_by_job_id is null
   and document.last_seen_job_id is distinct from %(root_job_id)s
   and document.uri is distinct from %(keep_uri)s
   and not exists (
        select 1 from rag.job_files as child
         where child.parent_job_id = %(root_job_id)s
           and child.status in ('failed', 'cancelled', 'review_needed')
           and (document.uri = child.document_uri
                or starts_with(document.uri, child.document_uri || '/')));

-- name: recount
-- The totals of a source are the sums over its documents.
update rag.knowledge_sources as source
   set chunk_count = sums.chunks, token_count = sums.tokens, updated_at = now(),
       coverage = jsonb_build_object(
           'pages', sums.pages, 'withText', sums.with_text, 'byOcr', sums.by_ocr,
           'empty', sums.empty, 'unread', sums.unread, 'failed', sums.failed, 'lost', '[]'::jsonb)
  from (select coalesce(sum(chunk_count), 0) as chunks, coalesce(sum(token_count), 0) as tokens,
               coalesce(sum((coverage ->> 'pages')::bigint), 0) as pages,
               coalesce(sum((coverage ->> 'withText')::bigint), 0) as with_text,
               coalesce(sum((coverage ->> 'byOcr')::bigint), 0) as by_ocr,
               coalesce(sum((coverage ->> 'empty')::bigint), 0) as empty,
               coalesce(sum((coverage ->> 'unread')::bigint), 0) as unread,
               coalesce(sum((coverage ->> 'failed')::bigint), 0) as failed
          from rag.documents
         where source_id = %(source_id)s and deleted_at is null) as sums
 where source.id = %(source_id)s;

-- name: update_source
-- Records which bytes are searchable now, even if members failed. If members were cancelled, the
-- hash is null, so that uploading the same file again processes them.
update rag.knowledge_sources
   set content_hash = case when not exists (
                               select 1 from rag.processing_jobs as child
                                where child.parent_job_id = %(root_job_id)s
                                  and child.status = 'cancelled'
                                  and child.last_error_code is distinct from 'rejected')
                           then %(content_hash)s::bytea end,
       blob_key = %(blob_key)s, size_bytes = %(size_bytes)s,
       embedding_model_id = %(model_id)s, updated_at = now()
 where id = %(source_id)s and deleted_at is null;

-- name: reopen
-- An archive retried after the end of its run adds members to it, so the run must end again.
update rag.processing_jobs
   set status = 'pending', completed_at = null, run_at = now() + interval '1 second',
       wait_reason = 'members'
 where id = %(root_job_id)s and status = 'completed';
