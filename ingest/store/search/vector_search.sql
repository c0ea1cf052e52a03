-- name: begin
-- First statement of a search; it configures the transaction. The timeout stops slow queries, which
-- would hold a connection for long. With the iterative scan (pgvector 0.8), an index scan continues
-- until enough rows pass the filters. JIT compilation and parallel workers cost more than they save.
-- `has_fresh`: whether any vectors are buffered. `has_other_models`: whether the application has
-- documents that are searched by another model: two ranges, in the order of the index, because for
-- `<>`, a join with the models or `exists`, a plan that is kept for all values reads all documents.
-- `index_type`: of what type the model's index is. `index_generation`: the vectors in it; `has_fresh`
-- counts later ones.
select set_config('statement_timeout', %(timeout_ms)s, true),
       set_config('hnsw.ef_search', %(ef_search)s, true),
       set_config('jit', 'off', true),
       set_config('max_parallel_workers_per_gather', '0', true),
       (select set_config('hnsw.iterative_scan', 'strict_order', true)
          from pg_extension
         where extname = 'vector'
           and string_to_array(extversion, '.')::integer[] >= array[0, 8]),
       exists (
           select from rag.embeddings_fresh
            where model_id = %(model_id)s and application_id = %(application_id)s)
       or exists (
           select from only rag.embeddings
            where model_id = %(model_id)s and application_id = %(application_id)s
              and generation > model.index_generation) as has_fresh,
       coalesce(
           (select true from rag.documents
             where application_id = %(application_id)s and embedding_model_id < %(model_id)s
               and deleted_at is null
             order by embedding_model_id limit 1),
           (select true from rag.documents
             where application_id = %(application_id)s and embedding_model_id > %(model_id)s
               and deleted_at is null
             order by embedding_model_id limit 1),
           false) as has_other_models,
       model.index_type, model.index_generation
  from rag.embedding_models as model
 where model.id = %(model_id)s;

-- name: are_many
-- Whether over `bound` vectors are indexed; counting stops there.
select exists (
    select from only rag.embeddings
     where model_id = %(model_id)s and application_id = %(application_id)s
    offset %(bound)s);

-- name: nearest_by_index
-- The distance expression must match the model's HNSW index exactly, and the generation be one that
-- the index covers. The other conditions are a subquery checked per row, nearest first: with joins,
-- the planner might choose a sort instead of the index.
select embedding.chunk_id as id,
       1 - (embedding.embedding <=> %(vector)s::vector) as score
  from only rag.embeddings as embedding
 where embedding.model_id = {model_id} and embedding.application_id = %(application_id)s
   and embedding.generation <= {generation}
   and (select {passes}
          from rag.chunks as chunk
          join rag.documents as document
            on document.id = chunk.document_id and document.deleted_at is null
          join rag.knowledge_sources as source
            on source.id = chunk.source_id and source.deleted_at is null
         where chunk.id = embedding.chunk_id)
   and (not %(only_own)s or rag.is_of_model(embedding.chunk_id, {model_id}))
 order by (embedding.embedding::{type}({dimension})) <=> %(vector)s::{type}({dimension})
 limit %(limit)s;

-- name: nearest_by_index_in_haste
-- The same without a filter, and with deleted chunks not yet purged.
select embedding.chunk_id as id,
       1 - (embedding.embedding <=> %(vector)s::vector) as score
  from only rag.embeddings as embedding
 where embedding.model_id = {model_id} and embedding.application_id = %(application_id)s
   and embedding.generation <= {generation}
 order by (embedding.embedding::{type}({dimension})) <=> %(vector)s::{type}({dimension})
 limit %(limit)s;

-- name: nearest_fresh
-- Compares all vectors that the index lacks, and looks up only the nearest. A zero vector has the
-- distance NaN and is left out, as in the index.
select embedding.chunk_id as id, 1 - embedding.distance as score
  from (
    select chunk_id, embedding <=> %(vector)s::vector as distance
      from rag.embeddings_fresh
     where model_id = %(model_id)s and application_id = %(application_id)s
     union all
    select chunk_id, embedding <=> %(vector)s::vector as distance
      from only rag.embeddings
     where model_id = %(model_id)s and application_id = %(application_id)s
       and generation > %(generation)s
     order by distance
    offset 0) as embedding
 where embedding.distance <= 2
   and (select {passes}
          from rag.chunks as chunk
          join rag.documents as document
            on document.id = chunk.document_id and document.deleted_at is null
          join rag.knowledge_sources as source
            on source.id = chunk.source_id and source.deleted_at is null
         where chunk.id = embedding.chunk_id)
   and (not %(only_own)s or rag.is_of_model(embedding.chunk_id, %(model_id)s))
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
 where (select true from rag.searchable_chunks as chunk where chunk.id = embedding.chunk_id)
   and (not %(only_own)s or rag.is_of_model(embedding.chunk_id, %(model_id)s))
 order by embedding.distance
 limit %(limit)s;

-- name: nearest_filtered
-- Compares all vectors of the documents that pass the filter.
select embedding.chunk_id as id, 1 - (embedding.embedding <=> %(vector)s::vector) as score
  from rag.knowledge_sources as source
  join rag.documents as document
    on document.source_id = source.id and document.deleted_at is null
  join rag.chunks as chunk on chunk.document_id = document.id
  join rag.embeddings as embedding
    on embedding.chunk_id = chunk.id and embedding.model_id = %(model_id)s
 where source.application_id = %(application_id)s and source.deleted_at is null
   and {passes}
   and (not %(only_own)s or document.embedding_model_id = %(model_id)s)
 order by embedding.embedding <=> %(vector)s::vector
 limit %(limit)s;

-- name: cosines
select chunk_id as id, 1 - (embedding <=> %(vector)s::vector) as score
  from rag.embeddings
 where model_id = %(model_id)s and application_id = %(application_id)s and chunk_id = any(%(ids)s);
