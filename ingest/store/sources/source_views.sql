-- Knowledge sources as the API returns them. Deleted sources are never included.

-- name: get
select * from rag.source_views where application_id = %(application_id)s and id = %(id)s;

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
       chunk.headings, chunk.sections as next_sections, chunk.page, chunk.page_end,
       chunk.char_start, chunk.char_end
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
select case when %(start)s::integer is null then document.text
            else substr(document.text, %(start)s + 1, %(length)s) end
  from rag.documents as document
  join rag.knowledge_sources as source on source.id = document.source_id
 where document.application_id = %(application_id)s and document.id = %(document_id)s
   and source.deleted_at is null
   and (document.deleted_at is null
        or exists (select 1 from rag.processing_jobs as job
                    where job.id = document.held_by_job_id and job.status = 'review_needed'));

-- name: left_out
select (part.value ->> 0)::integer as at, left(part.value ->> 1, %(longest)s) as text,
       length(part.value ->> 1) > %(longest)s as is_cut
  from rag.documents as document
 cross join lateral jsonb_array_elements(document.furniture) with ordinality as part(value, n)
 where document.id = %(document_id)s and document.application_id = %(application_id)s
   and document.deleted_at is null
 order by part.n
 limit %(limit)s;
