-- The section of a document that a chunk comes from.

-- name: chunk_position
select chunk.id as chunk_id, chunk.document_id, chunk.source_id as knowledge_source_id,
       coalesce(document.title,
                case source.type when 'file' then regexp_replace(document.uri, '^.*/', '') end,
                source.name) as title,
       document.uri, chunk.headings,
       chunk.char_start, chunk.char_end, chunk.section_start, chunk.section_end
  from rag.chunks as chunk
  join rag.documents as document
    on document.id = chunk.document_id and document.deleted_at is null
  join rag.knowledge_sources as source
    on source.id = chunk.source_id and source.deleted_at is null
 where chunk.id = %(chunk_id)s and chunk.application_id = %(application_id)s;

-- name: neighbours
-- The range of the document from so many chunks before a chunk to so many after it.
select min(near.char_start), max(near.char_end)
  from rag.chunks as chunk
  join rag.chunks as near
    on near.document_id = chunk.document_id
   and near.ordinal between chunk.ordinal - %(count)s and chunk.ordinal + %(count)s
 where chunk.id = %(chunk_id)s;

-- name: content
select substr(text, %(start)s + 1, %(length)s) from rag.documents where id = %(document_id)s;
