-- Jobs, with what statements read of their payloads: only here, under the names of
-- ingest/payloads.py. Columns are null for types whose payload is free JSON: that must not name
-- blobs. Not generated columns: those would double the processor time of claiming and completing.

create view rag.job_files as
select id, knowledge_source_id, parent_job_id, type, status, progress, completed_at, last_error_code,
       type in ('file', 'member', 'archive') as is_file_job,
       case when type in ('file', 'member', 'archive') then payload ->> 'blobKey' end as blob_key,
       case when type = 'file' then decode(payload ->> 'contentHash', 'hex') end as content_hash,
       case when type in ('file', 'member') then (payload ->> 'sizeBytes')::bigint end
         as size_bytes,
       -- Null: the document's uri is that of the source.
       case when type in ('member', 'archive') then payload ->> 'uri' end as document_uri,
       type = 'member' and payload ? 'mayHoldFiles' as may_hold_files
  from rag.processing_jobs;

-- Conditions must name `is_file_job` and `blob_key`.
drop index rag.processing_jobs_blob;
create index processing_jobs_blob on rag.processing_jobs
    ((case when type in ('file', 'member', 'archive') then payload ->> 'blobKey' end))
    where type in ('file', 'member', 'archive');
