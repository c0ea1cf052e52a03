-- name: tuned
-- Select list for the first statement of a search; it configures the transaction. The timeout stops
-- slow queries, which would hold a connection for long. Recall needs this `ef_search`
-- (docs/decisions.md). With the iterative scan (pgvector 0.8), an index scan continues until enough
-- rows pass the filters. JIT compilation costs more than it saves.
set_config('statement_timeout', '5000', true),
       set_config('hnsw.ef_search', '250', true),
       set_config('jit', 'off', true),
       (select set_config('hnsw.iterative_scan', 'strict_order', true)
          from pg_extension
         where extname = 'vector'
           and string_to_array(extversion, '.')::integer[] >= array[0, 8])

-- name: look_for_fresh
-- For an application already known to have many vectors.
select {tuned},
       true as are_many,
       exists (
           select from rag.embeddings_fresh
            where model_id = %(model_id)s and application_id = %(application_id)s) as has_fresh;

-- name: count_vectors
-- Whether over `bound` vectors are indexed (counting stops there), and whether any are buffered.
select {tuned},
       exists (
           select from only rag.embeddings
            where model_id = %(model_id)s and application_id = %(application_id)s
           offset %(bound)s) as are_many,
       exists (
           select from rag.embeddings_fresh
            where model_id = %(model_id)s and application_id = %(application_id)s) as has_fresh;

-- name: count_filtered
-- Like count_vectors, but sums the chunk counts of the sources that pass the filter.
select (select coalesce(sum(source.chunk_count), 0) > %(bound)s
          from rag.knowledge_sources as source
         where source.application_id = %(application_id)s and source.deleted_at is null
           and (%(source_ids)s::uuid[] is null or source.id = any(%(source_ids)s))
           and (%(metadata)s::jsonb is null or source.metadata @> %(metadata)s)) as are_many,
       exists (
           select from rag.embeddings_fresh
            where model_id = %(model_id)s and application_id = %(application_id)s) as has_fresh;

-- name: nearest_by_index
-- The distance expression must match the model's HNSW index exactly.
select embedding.chunk_id as id,
       1 - ((embedding.embedding::{type}({dimension})) <=> %(vector)s::{type}({dimension})) as score
  from only rag.embeddings as embedding
 where embedding.model_id = {model_id} and embedding.application_id = %(application_id)s
   and {passes}
 order by (embedding.embedding::{type}({dimension})) <=> %(vector)s::{type}({dimension})
 limit %(limit)s;

-- name: passes
-- The other conditions, as a subquery checked per row, nearest first: with joins, the planner might
-- choose a sort instead of the index.
(select source.deleted_at is null and document.deleted_at is null
        and (%(source_ids)s::uuid[] is null or source.id = any(%(source_ids)s))
        and (%(metadata)s::jsonb is null or source.metadata @> %(metadata)s)
   from rag.chunks as chunk
   join rag.documents as document on document.id = chunk.document_id
   join rag.knowledge_sources as source on source.id = chunk.source_id
  where chunk.id = embedding.chunk_id)

-- name: nearest_fresh
-- Compares all buffered vectors and looks up only the nearest. A zero vector has the distance NaN
-- and is left out, as in the index.
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
-- Compares all vectors of the application and looks up only the nearest.
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
-- Compares all vectors of the sources that pass the filter.
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
