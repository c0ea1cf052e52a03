-- Files inside of uploaded files: documents of one source, each read by a job that is a child of the
-- source's root job. Payloads of children name the document (`uri`); lock order: jobs, then sources.

-- name: children
select count(*) as total,
       count(*) filter (where status in ('pending', 'processing')) as open,
       count(*) filter (where type = 'member') as members,
       coalesce(sum((payload ->> 'sizeBytes')::bigint) filter (where type = 'member'), 0)::bigint as bytes
  from rag.processing_jobs
 where parent_job_id = %(root_job_id)s;

-- name: lock
select pg_advisory_xact_lock(hashtextextended(%(root_job_id)s::text, 0));

-- name: begin
-- A run that is tried again begins anew: what became of the files of the last one says nothing.
with earlier as (
    delete from rag.processing_jobs
     where parent_job_id = %(root_job_id)s and status in ('completed', 'failed', 'cancelled'))
update rag.processing_jobs
   set payload = payload || jsonb_build_object(%(awaited)s::text, true)
 where id = %(root_job_id)s;

-- name: known
select uri, content_hash, embedding_model_id, status, metadata ? 'attachments' as has_members
  from rag.documents
 where source_id = %(source_id)s and md5(uri) = any(%(uri_digests)s) and deleted_at is null;

-- name: keep
update rag.documents
   set seen_by = %(root_job_id)s
 where source_id = %(source_id)s and md5(uri) = any(%(uri_digests)s) and deleted_at is null;

-- name: drop_unseen
-- What this run has neither stored nor found unchanged. Of a file or archive that could not be read,
-- what is known from before stays.
delete from rag.documents as document
 where document.source_id = %(source_id)s and document.held_by is null
   and document.seen_by is distinct from %(root_job_id)s
   and document.uri is distinct from %(keep_uri)s
   and not exists (
        select 1 from rag.processing_jobs as child
         where child.parent_job_id = %(root_job_id)s
           and child.status in ('failed', 'cancelled', 'review_needed')
           and (document.uri = child.payload ->> 'uri'
                or starts_with(document.uri, (child.payload ->> 'uri') || '/')));

-- name: recount
-- Exact again: a source of many documents is the sum of them.
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

-- name: content
-- Which bytes are searchable now, whatever became of the files in them. With files that somebody has
-- cancelled they are not, so that the same upload brings those.
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
-- An archive that is tried again after the end of its run adds files to it: the run ends anew.
update rag.processing_jobs
   set status = 'pending', completed_at = null, run_at = now() + interval '1 second',
       wait_reason = 'members'
 where id = %(root_job_id)s and status = 'completed';
