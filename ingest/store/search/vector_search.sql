-- name: tuned
-- Part of the first statement of a search: for its transaction. However a query was made, it ends: it
-- must not hold a connection for long. `ef_search` is what recall needs (docs/decisions.md). With the
-- iterative scan (pgvector 0.8) an index scan goes on until enough rows have passed the filters.
-- Compiling costs more than it gains.
set_config('statement_timeout', '5000', true),
       set_config('hnsw.ef_search', '250', true),
       set_config('jit', 'off', true),
       (select set_config('hnsw.iterative_scan', 'strict_order', true)
          from pg_extension
         where extname = 'vector'
           and string_to_array(extversion, '.')::integer[] >= array[0, 8])

-- name: look_for_fresh
-- Of an application that is known to have many.
select {tuned},
       true as are_many,
       exists (
           select from rag.embeddings_fresh
            where model_id = %(model_id)s and application_id = %(application_id)s) as has_fresh;

-- name: count_vectors
-- Whether more than so many are under the index, those beyond are not looked at; whether any wait.
select {tuned},
       exists (
           select from only rag.embeddings
            where model_id = %(model_id)s and application_id = %(application_id)s
           offset %(bound)s) as are_many,
       exists (
           select from rag.embeddings_fresh
            where model_id = %(model_id)s and application_id = %(application_id)s) as has_fresh;

-- name: count_filtered
-- The same by the chunks of the sources that pass the filter.
select (select coalesce(sum(source.chunk_count), 0) > %(bound)s
          from rag.knowledge_sources as source
         where source.application_id = %(application_id)s and source.deleted_at is null
           and (%(source_ids)s::uuid[] is null or source.id = any(%(source_ids)s))
           and (%(metadata)s::jsonb is null or source.metadata @> %(metadata)s)) as are_many,
       exists (
           select from rag.embeddings_fresh
            where model_id = %(model_id)s and application_id = %(application_id)s) as has_fresh;

-- name: nearest_by_index
-- The distance is written exactly as the model's HNSW index has it.
select embedding.chunk_id as id,
       1 - ((embedding.embedding::{type}({dimension})) <=> %(vector)s::{type}({dimension})) as score
  from only rag.embeddings as embedding
 where embedding.model_id = {model_id} and embedding.application_id = %(application_id)s
   and {passes}
 order by (embedding.embedding::{type}({dimension})) <=> %(vector)s::{type}({dimension})
 limit %(limit)s;

-- name: passes
-- What else is asked of a chunk, looked up one by one, nearest first: with joins, the planner may leave
-- the index for a sort.
(select source.deleted_at is null and document.deleted_at is null
        and (%(source_ids)s::uuid[] is null or source.id = any(%(source_ids)s))
        and (%(metadata)s::jsonb is null or source.metadata @> %(metadata)s)
   from rag.chunks as chunk
   join rag.documents as document on document.id = chunk.document_id
   join rag.knowledge_sources as source on source.id = chunk.source_id
  where chunk.id = embedding.chunk_id)

-- name: nearest_fresh
-- All vectors that wait for the index are compared; only the best are looked up. One of zeros is near
-- to nothing (NaN), and not in the index either.
select embedding.chunk_id as id, 1 - embedding.distance as score
  from (
    select chunk_id, embedding <=> %(vector)s::vector as distance
      from rag.embeddings_fresh
     where model_id = %(model_id)s and application_id = %(application_id)s
     order by distance
    offset 0) as embedding
 where embedding.distance <= 2
   and (select source.deleted_at is null and document.deleted_at is null
           and (%(source_ids)s::uuid[] is null or source.id = any(%(source_ids)s))
           and (%(metadata)s::jsonb is null or source.metadata @> %(metadata)s)
          from rag.chunks as chunk
          join rag.documents as document on document.id = chunk.document_id
          join rag.knowledge_sources as source on source.id = chunk.source_id
         where chunk.id = embedding.chunk_id)
 order by embedding.distance
 limit %(limit)s;

-- name: nearest_exactly
-- All vectors of the application are compared; only the best are looked up.
select embedding.chunk_id as id, 1 - embedding.distance as score
  from (
    select chunk_id, embedding <=> %(vector)s::vector as distance
      from rag.embeddings
     where model_id = %(model_id)s and application_id = %(application_id)s
     order by distance
    offset 0) as embedding
 where (select source.deleted_at is null and document.deleted_at is null
          from rag.chunks as chunk
          join rag.documents as document on document.id = chunk.document_id
          join rag.knowledge_sources as source on source.id = chunk.source_id
         where chunk.id = embedding.chunk_id)
 order by embedding.distance
 limit %(limit)s;

-- name: nearest_filtered
-- All vectors of the sources that pass the filter are compared.
select embedding.chunk_id as id, 1 - (embedding.embedding <=> %(vector)s::vector) as score
  from rag.knowledge_sources as source
  join rag.chunks as chunk on chunk.source_id = source.id
  join rag.documents as document
    on document.id = chunk.document_id and document.deleted_at is null
  join rag.embeddings as embedding
    on embedding.chunk_id = chunk.id and embedding.model_id = %(model_id)s
 where source.application_id = %(application_id)s and source.deleted_at is null
   and (%(source_ids)s::uuid[] is null or source.id = any(%(source_ids)s))
   and (%(metadata)s::jsonb is null or source.metadata @> %(metadata)s)
 order by embedding.embedding <=> %(vector)s::vector
 limit %(limit)s;

-- name: hits
select chunk.id as chunk_id, chunk.source_id as knowledge_source_id, chunk.document_id,
       coalesce(document.title,
                case source.type when 'file' then regexp_replace(document.uri, '^.*/', '') end,
                source.name) as title,
       document.uri, chunk.page, chunk.page_end, chunk.headings, chunk.content, found.score
  from unnest(%(ids)s::uuid[], %(scores)s::float8[]) with ordinality as found(id, score, place)
  join rag.chunks as chunk on chunk.id = found.id
  join rag.documents as document
    on document.id = chunk.document_id and document.deleted_at is null
  join rag.knowledge_sources as source
    on source.id = chunk.source_id and source.deleted_at is null
 where chunk.application_id = %(application_id)s
 order by found.place;
