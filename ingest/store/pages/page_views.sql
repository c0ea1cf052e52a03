-- Pages of documents. Includes versions that wait for a review: the reviewer has to see them.

-- name: pages
select document.source_id, document.media_type, document.pages, document.coverage,
       length(document.text) as characters,
       array(select words.page from rag.page_words as words
              where words.document_id = document.id order by words.page) as with_words
  from rag.documents as document
  join rag.knowledge_sources as source
    on source.id = document.source_id and source.deleted_at is null
 where document.id = %(document_id)s and document.application_id = %(application_id)s
   and (document.deleted_at is null or document.held_by_job_id is not null);

-- name: words
select words from rag.page_words where document_id = %(document_id)s and page = %(page)s;

-- name: chunks
-- In reading order: all, or those of a part of the text.
select chunk.id, chunk.document_id, chunk.ordinal, chunk.content, chunk.token_count,
       chunk.headings, chunk.sections as next_sections, chunk.page, chunk.page_end,
       chunk.char_start, chunk.char_end
  from rag.chunks as chunk
 where chunk.document_id = %(document_id)s and chunk.application_id = %(application_id)s
   and (%(after)s::integer is null or chunk.ordinal > %(after)s)
   and (%(start)s::integer is null or chunk.char_end > %(start)s)
   and (%(until)s::integer is null or chunk.char_start < %(until)s)
 order by chunk.ordinal
 limit %(limit)s;
