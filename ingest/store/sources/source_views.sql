-- Knowledge sources as the API returns them. Deleted sources are never included.

-- name: get
select source.id, source.application_id, source.batch_id, source.type, source.name, source.uri,
       source.status, source.error_code, source.error_message, source.metadata, source.coverage,
       source.chunk_count, source.token_count, source.size_bytes,
       encode(source.content_hash, 'hex') as content_hash, source.duplicate_of,
       source.current_job_id as job_id, source.rescrape_cron, source.rescrape_timezone,
       source.next_rescrape_at, source.crawl_settings, source.chunking as own_chunking,
       (select application.settings -> 'chunking' from app.applications as application
         where application.id = source.application_id) as application_chunking,
       source.event_seq, source.created_at, source.updated_at, {waiting} as waiting
  from rag.knowledge_sources as source
 where source.application_id = %(application_id)s and source.id = %(id)s
   and source.deleted_at is null;

-- name: waiting
-- Why an open source waits, other than for a free worker: a wait reason of its root job or a child.
case when source.status in ('pending', 'processing') then (
    select jsonb_build_object('reason', job.wait_reason, 'code', job.last_error_code,
                              'message', job.last_error_message, 'until', job.run_at)
      from (select root.* from rag.processing_jobs as root where root.id = source.current_job_id
            union all
            select page.* from rag.processing_jobs as page
             where page.parent_job_id = source.current_job_id) as job
     where job.status = 'pending' and job.run_at is not null
       and job.wait_reason not in ('pages', 'members')
     limit 1) end

-- name: list
select source.id, source.application_id, source.batch_id, source.type, source.name, source.uri,
       source.status, source.error_code, source.error_message, source.metadata, source.coverage,
       source.chunk_count, source.token_count, source.size_bytes,
       encode(source.content_hash, 'hex') as content_hash, source.duplicate_of,
       source.current_job_id as job_id, source.rescrape_cron, source.rescrape_timezone,
       source.next_rescrape_at, source.crawl_settings, source.chunking as own_chunking,
       (select application.settings -> 'chunking' from app.applications as application
         where application.id = source.application_id) as application_chunking,
       source.event_seq, source.created_at, source.updated_at, {waiting} as waiting
  from rag.knowledge_sources as source
 where source.application_id = %(application_id)s and source.deleted_at is null
   and (%(status)s::text is null or source.status = %(status)s)
   and (%(type)s::text is null or source.type = %(type)s)
   and (%(batch_id)s::uuid is null or source.batch_id = %(batch_id)s)
   and (%(uri)s::text is null or (md5(source.uri) = md5(%(uri)s) and source.uri = %(uri)s))
   and (%(before_id)s::uuid is null
        or (source.created_at, source.id) < (%(before_time)s, %(before_id)s))
 order by source.created_at desc, source.id desc
 limit %(limit)s;

-- name: seq
select event_seq from rag.knowledge_sources
 where application_id = %(application_id)s and id = %(id)s and deleted_at is null;

-- name: documents
-- A page that was removed from its site is listed with `deleted_at` until it is purged. Documents
-- held for a review are left out.
select document.id, document.source_id as knowledge_source_id, document.uri, document.title,
       document.media_type, document.status, document.error_code, document.chunk_count,
       document.token_count, document.coverage, document.encoding, document.extractor,
       document.metadata, document.warnings, document.created_at, document.updated_at,
       document.deleted_at
  from rag.documents as document
 where document.application_id = %(application_id)s and document.source_id = %(source_id)s
   and document.held_by_job_id is null
   and (%(after)s::uuid is null or document.id > %(after)s)
 order by document.id
 limit %(limit)s;

-- name: document
select document.id, document.source_id as knowledge_source_id, document.uri, document.title,
       document.media_type, document.status, document.error_code, document.chunk_count,
       document.token_count, document.coverage, document.encoding, document.extractor,
       document.metadata, document.warnings, document.created_at, document.updated_at,
       document.deleted_at
  from rag.documents as document
  join rag.knowledge_sources as source on source.id = document.source_id
 where document.application_id = %(application_id)s and document.id = %(document_id)s
   and document.held_by_job_id is null and source.deleted_at is null;

-- name: chunks
-- In reading order: by document, then from its beginning.
select chunk.id, chunk.document_id, chunk.ordinal, chunk.content, chunk.token_count,
       chunk.headings, chunk.page, chunk.page_end, chunk.char_start, chunk.char_end
  from rag.documents as document
  join rag.chunks as chunk on chunk.document_id = document.id
 where document.application_id = %(application_id)s and document.source_id = %(source_id)s
   and document.deleted_at is null
   and (%(after_document)s::uuid is null
        or (document.id >= %(after_document)s
            and (document.id, chunk.ordinal) > (%(after_document)s, %(after_ordinal)s)))
 order by document.id, chunk.ordinal
 limit %(limit)s;

-- name: text
-- Includes documents that wait for a review: the reviewer has to read them.
select document.text
  from rag.documents as document
  join rag.knowledge_sources as source on source.id = document.source_id
 where document.application_id = %(application_id)s and document.id = %(document_id)s
   and source.deleted_at is null
   and (document.deleted_at is null
        or exists (select 1 from rag.processing_jobs as job
                    where job.id = document.held_by_job_id and job.status = 'review_needed'));
