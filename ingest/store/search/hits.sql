-- name: load
-- In the order of the ids, without those deleted meanwhile.
select chunk.id as chunk_id, chunk.source_id as knowledge_source_id, chunk.document_id,
       coalesce(document.title,
                case source.type when 'file' then regexp_replace(document.uri, '^.*/', '') end,
                source.name) as title,
       document.uri, document.media_type, source.metadata,
       document.metadata as document_metadata,
       -- The date that the document states. Formats with properties have `created`.
       coalesce(document.metadata ->> 'date', document.metadata ->> 'created') as published_at,
       source.created_at, document.updated_at, chunk.ordinal, chunk.page, chunk.page_end,
       chunk.char_start, chunk.char_end, chunk.headings, chunk.sections as next_sections,
       chunk.content
  from unnest(%(ids)s::uuid[]) with ordinality as wanted(id, place)
  join rag.chunks as chunk on chunk.id = wanted.id
  join rag.documents as document
    on document.id = chunk.document_id and document.deleted_at is null
  join rag.knowledge_sources as source
    on source.id = chunk.source_id and source.deleted_at is null
 where chunk.application_id = %(application_id)s
 order by wanted.place;
