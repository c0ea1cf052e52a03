-- name: load
select chunk.id as chunk_id, chunk.source_id as knowledge_source_id, chunk.document_id,
       coalesce(chunk.title,
                case chunk.source_type when 'file' then regexp_replace(chunk.uri, '^.*/', '') end,
                chunk.source_name) as title,
       chunk.uri, chunk.page, chunk.page_end, chunk.headings, chunk.content, found.score
  from unnest(%(ids)s::uuid[], %(scores)s::float8[]) with ordinality as found(id, score, place)
  join rag.searchable_chunks as chunk on chunk.id = found.id
 where chunk.application_id = %(application_id)s
 order by found.place;
