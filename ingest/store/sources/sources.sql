-- name: lock
-- A separate statement: `derive` must see everything committed before we got the lock. Otherwise
-- two page jobs that end at the same time would both leave the source unfinished.
select id from rag.knowledge_sources where id = any(%(ids)s) order by id for no key update;

-- name: derive
-- Derives the state of a source from the jobs of its current run: the root job and its children. A
-- rejected run leaves the earlier content searchable, so it counts as completed if there is any.
with run as (
    select source.id, source.status as was,
           count(*) filter (where job.status = 'processing') as processing,
           count(*) filter (where job.status = 'pending') as pending,
           count(*) filter (where job.status = 'review_needed') as review_needed,
           count(*) filter (where job.status = 'completed'
                or (job.status = 'cancelled' and job.last_error_code = 'rejected'
                    and source.chunk_count > 0)) as completed,
           count(*) filter (where job.status = 'failed') as failed,
           count(*) filter (where job.status = 'cancelled') as cancelled,
           count(*) filter (where job.status = 'cancelled'
                and job.last_error_code is distinct from 'rejected') as given_up,
           bool_or(job.id = source.current_job_id and job.status = 'cancelled'
                   and job.last_error_code = 'cancelled') as is_cancelled,
           bool_or(source.chunk_count > 0) as is_searchable,
           -- The root job's error, else that of the latest job. `rejected` is not an error.
           (array_agg(job.last_error_code
                order by (job.id = source.current_job_id) desc, job.position desc)
               filter (where job.status in ('failed', 'cancelled')
                         and job.last_error_code is distinct from 'rejected'))[1] as error_code,
           (array_agg(job.last_error_message
                order by (job.id = source.current_job_id) desc, job.position desc)
               filter (where job.status in ('failed', 'cancelled')
                         and job.last_error_code is distinct from 'rejected'))[1] as error_message,
           min(job.last_error_message) filter (where job.status = 'review_needed') as question
      from rag.knowledge_sources as source
     cross join lateral (
        select root.* from rag.processing_jobs as root where root.id = source.current_job_id
         union all
        select child.* from rag.processing_jobs as child
         where child.parent_job_id = source.current_job_id) as job
     where source.id = any(%(ids)s) and source.deleted_at is null
     group by source.id
), derived as (
    select run.*,
           case
             when processing > 0 then 'processing'
             when pending > 0 and completed + failed + cancelled > 0 then 'processing'
             when pending > 0 then 'pending'
             when review_needed > 0 then 'review_needed'
             when is_cancelled then 'cancelled'
             when completed > 0 and not is_searchable then 'failed'
             when completed > 0 and failed + given_up > 0 then 'partial'
             when completed > 0 and exists (
                select 1 from rag.documents as document
                 where document.source_id = run.id and document.status <> 'completed'
                   and document.deleted_at is null) then 'partial'
             when completed > 0 then 'completed'
             when failed > 0 then 'failed'
             else 'cancelled'
           end as status
      from run
)
update rag.knowledge_sources as source
   set status = derived.status,
       error_code = case when derived.status = 'failed'
                         then coalesce(derived.error_code, 'empty_content')
                         -- No job failed, but content of a document is missing.
                         when derived.status = 'partial' then coalesce(derived.error_code, (
                            select document.error_code from rag.documents as document
                             where document.source_id = source.id and document.deleted_at is null
                               and document.status <> 'completed'
                             order by document.id limit 1))
                         when derived.status = 'cancelled'
                         then coalesce(derived.error_code, 'rejected') end,
       error_message = case when derived.status in ('failed', 'partial')
                            then derived.error_message
                            when derived.status = 'cancelled'
                            then coalesce(derived.error_message, 'rejected')
                            when derived.status = 'review_needed' then derived.question end,
       updated_at = now()
  from derived
 where source.id = derived.id
returning source.id, source.status, derived.was, source.error_code, source.error_message,
          source.chunk_count;

-- name: for_jobs
-- The data handlers need; excludes deleted sources.
select source.id, source.application_id, source.name, source.uri, source.type, source.metadata,
       source.content_hash, source.blob_key,
       application.settings -> 'chunking' as application_chunking, source.chunking as own_chunking
  from rag.knowledge_sources as source
  join app.applications as application on application.id = source.application_id
 where source.id = any(%(ids)s) and source.deleted_at is null;

-- name: set_content
update rag.knowledge_sources as source
   set content_hash = new.content_hash, blob_key = new.blob_key, size_bytes = new.size_bytes,
       embedding_model_id = new.model_id, coverage = new.coverage,
       chunk_count = new.chunk_count, token_count = new.token_count, updated_at = now()
  from unnest(%(ids)b::uuid[], %(content_hashes)b::bytea[], %(blob_keys)b::text[],
              %(sizes)b::bigint[], %(model_ids)b::smallint[], %(coverages)b::jsonb[],
              %(chunk_counts)b::integer[], %(token_counts)b::bigint[])
       as new(id, content_hash, blob_key, size_bytes, model_id, coverage, chunk_count, token_count)
 where source.id = new.id and source.deleted_at is null
returning source.id;

-- name: tombstone
with chosen as materialized (
    select id from rag.knowledge_sources
     where application_id = %(application_id)s and id = any(%(ids)s) and deleted_at is null
     order by id
       for no key update)
update rag.knowledge_sources as source
   set deleted_at = now(), updated_at = now(), status = 'cancelled',
       error_code = 'source_deleted', error_message = 'deleted'
  from chosen
 where source.id = chosen.id
returning source.id;

-- name: purge_chunks
-- Limited, so that deleting a large site never holds locks for long. Deleted sources only.
with doomed as materialized (
    select chunk.id
      from rag.chunks as chunk
      join rag.knowledge_sources as source on source.id = chunk.source_id
     where chunk.source_id = %(id)s and source.deleted_at is not null
     order by chunk.id limit %(limit)s)
delete from rag.chunks as chunk using doomed where chunk.id = doomed.id;

-- name: blob_keys
-- All versions: the searchable one and those of all jobs; and the pictures of their pages.
select source.blob_key as key
  from rag.knowledge_sources as source
 where source.id = %(id)s and source.deleted_at is not null and source.blob_key is not null
union
select job.blob_key
  from rag.knowledge_sources as source
  join rag.job_files as job on job.knowledge_source_id = source.id
 where source.id = %(id)s and source.deleted_at is not null and job.blob_key is not null
union
select image.blob_key
  from rag.knowledge_sources as source
  join rag.page_images as image on image.source_id = source.id
 where source.id = %(id)s and source.deleted_at is not null;

-- name: purge
delete from rag.knowledge_sources where id = %(id)s and deleted_at is not null;

-- name: referenced_blobs
select blob_key from rag.knowledge_sources where blob_key = any(%(keys)s);

-- name: unsettled
-- Open sources without an open job, for `reconcile` to settle.
select source.id
  from rag.knowledge_sources as source
 where source.status in ('pending', 'processing') and source.deleted_at is null
   and source.updated_at < now() - interval '30 seconds'
   and not exists (
        select 1 from rag.processing_jobs as job
         where job.status in ('pending', 'processing')
           and (job.id = source.current_job_id or job.parent_job_id = source.current_job_id))
 order by source.id
 limit 1000;

-- name: fail_jobless
-- The state of a source without a job row cannot be derived, and it must not stay open.
update rag.knowledge_sources as source
   set status = 'failed', error_code = 'internal', updated_at = now(),
       error_message = 'the processing job of this source no longer exists; upload it again'
  from rag.knowledge_sources as before
 where source.id = any(%(ids)s) and before.id = source.id
   and not exists (select 1 from rag.processing_jobs as job where job.id = source.current_job_id)
returning source.id, source.status, before.status as was, source.error_code, source.error_message,
          source.chunk_count;
