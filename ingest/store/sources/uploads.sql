-- name: existing
-- Live sources with these paths, each with its open job, if any. Includes jobs that wait for a
-- review or were rejected, so that nobody reviews the same bytes twice.
select source.id, source.uri, source.content_hash, source.embedding_model_id, source.status,
       job.id as open_job_id, job.content_hash as open_hash,
       rejected.content_hash as rejected_hash
  from rag.knowledge_sources as source
  left join rag.job_files as job
    on job.id = source.current_job_id and job.status in ('pending', 'processing', 'review_needed')
  left join rag.job_files as rejected
    on rejected.id = source.current_job_id and rejected.status = 'cancelled'
   and rejected.last_error_code = 'rejected'
 where source.application_id = %(application_id)s and source.type = 'file'
   and md5(source.uri) = any(%(uri_digests)s) and source.deleted_at is null;

-- name: same_content
select distinct on (content_hash) content_hash, id
  from rag.knowledge_sources
 where application_id = %(application_id)s and content_hash = any(%(hashes)s)
   and deleted_at is null
 order by content_hash, created_at;

-- name: insert_sources
insert into rag.knowledge_sources
    (id, application_id, batch_id, type, name, uri, metadata, current_job_id, duplicate_of)
select new.id, %(application_id)s, %(batch_id)s, 'file', new.name, new.uri, %(metadata)s,
       new.job_id, new.duplicate_of
  from unnest(%(ids)b::uuid[], %(names)b::text[], %(uris)b::text[], %(job_ids)b::uuid[],
              %(duplicates)b::uuid[]) as new(id, name, uri, job_id, duplicate_of);

-- name: update_sources
-- The old content stays searchable until the new run replaces it.
update rag.knowledge_sources as source
   set batch_id = %(batch_id)s, current_job_id = new.job_id, status = 'pending',
       metadata = coalesce(%(metadata)s, source.metadata),
       error_code = null, error_message = null, duplicate_of = new.duplicate_of, updated_at = now()
  from unnest(%(ids)b::uuid[], %(job_ids)b::uuid[], %(duplicates)b::uuid[])
       as new(id, job_id, duplicate_of)
 where source.id = new.id;

-- name: update_metadata
update rag.knowledge_sources set metadata = %(metadata)s, updated_at = now()
 where id = any(%(ids)s);

-- name: with_other_metadata
select id from rag.knowledge_sources
 where application_id = %(application_id)s and id = any(%(ids)s) and metadata <> %(metadata)s;

-- name: ensure_batch
insert into rag.upload_batches (id, application_id) values (%(id)s, %(application_id)s);

-- name: find_batch
select id from rag.upload_batches where id = %(id)s and application_id = %(application_id)s;

-- name: add_files
insert into rag.upload_files
    (batch_id, path, size_bytes, verdict, knowledge_source_id, job_id, code, detail)
select %(batch_id)s, new.path, new.size_bytes, new.verdict, new.source_id, new.job_id, new.code,
       new.detail
  from unnest(%(paths)b::text[], %(sizes)b::bigint[], %(verdicts)b::text[], %(source_ids)b::uuid[],
              %(job_ids)b::uuid[], %(codes)b::text[], %(details)b::text[]) with ordinality
       as new(path, size_bytes, verdict, source_id, job_id, code, detail, n)
 order by new.n;

-- name: count_batch
update rag.upload_batches
   set accepted = accepted + %(accepted)s, unchanged = unchanged + %(unchanged)s,
       duplicate = duplicate + %(duplicate)s, rejected = rejected + %(rejected)s,
       completed_at = case when %(accepted)s = 0 then completed_at end,
       updated_at = now()
 where id = %(id)s;
