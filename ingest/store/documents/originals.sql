-- The bytes that documents were read from.

-- name: find
-- Of a version that awaits review: those of its job. Of the uploaded file: those of the source. Of a
-- file inside it: those of the job that read it, until retention deletes that.
select document.uri, document.media_type, document.content_hash, stored.blob_key, stored.size_bytes
  from rag.documents as document
  join rag.knowledge_sources as source
    on source.id = document.source_id and source.deleted_at is null
  left join lateral (
    (select job.blob_key, job.size_bytes
       from rag.job_files as job
      where job.id = document.held_by_job_id and job.is_file_job)
    union all
    (select source.blob_key, source.size_bytes
      where document.held_by_job_id is null and document.uri = source.uri
        and source.type = 'file' and source.blob_key is not null)
    union all
    (select job.blob_key, job.size_bytes
       from rag.job_files as job
      where document.held_by_job_id is null and job.knowledge_source_id = source.id
        and job.type = 'member' and job.document_uri = document.uri and job.status = 'completed'
        and job.blob_key is not null
      order by job.completed_at desc
      limit 1)
    limit 1) as stored on true
 where document.id = %(document_id)s and document.application_id = %(application_id)s
   and (document.deleted_at is null or document.held_by_job_id is not null);
