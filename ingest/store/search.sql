-- name: tune
-- For this transaction. `ef_search` is what recall needs. With the iterative scan (pgvector 0.8) an
-- index scan goes on until enough rows have passed the filters. Compiling costs more than it gains.
select set_config('hnsw.ef_search', '100', true),
       set_config('jit', 'off', true),
       (select set_config('hnsw.iterative_scan', 'strict_order', true)
          from pg_extension
         where extname = 'vector'
           and string_to_array(extversion, '.')::integer[] >= array[0, 8]);

-- name: bound
-- However a query was made, it ends; its transaction must not hold a connection for long.
select set_config('statement_timeout', '5000', true);

-- name: count_vectors
-- Of those under the index. Bounded: whether it is few is all that matters.
select count(*) from (
    select from only rag.embeddings
     where model_id = %(model_id)s and application_id = %(application_id)s
     limit %(bound)s) as vectors;

-- name: count_filtered
-- Chunks of the sources that pass the filter.
select coalesce(sum(source.chunk_count), 0)
  from rag.knowledge_sources as source
 where source.application_id = %(application_id)s and source.deleted_at is null
   and (%(source_ids)s::uuid[] is null or source.id = any(%(source_ids)s))
   and (%(metadata)s::jsonb is null or source.metadata @> %(metadata)s);

-- name: has_fresh
select exists (
    select from rag.embeddings_fresh
     where model_id = %(model_id)s and application_id = %(application_id)s);

-- name: nearest_by_index
-- The distance is written exactly as the model's HNSW index has it. What else is asked of a chunk is
-- looked up one by one, nearest first: with joins, the planner may leave the index for a sort.
select embedding.chunk_id as id,
       1 - ((embedding.embedding::{type}({dimension})) <=> %(vector)s::{type}({dimension})) as score
  from only rag.embeddings as embedding
 where embedding.model_id = {model_id} and embedding.application_id = %(application_id)s
   and (select source.deleted_at is null and document.deleted_at is null
           and (%(source_ids)s::uuid[] is null or source.id = any(%(source_ids)s))
           and (%(metadata)s::jsonb is null or source.metadata @> %(metadata)s)
          from rag.chunks as chunk
          join rag.documents as document on document.id = chunk.document_id
          join rag.knowledge_sources as source on source.id = chunk.source_id
         where chunk.id = embedding.chunk_id)
 order by (embedding.embedding::{type}({dimension})) <=> %(vector)s::{type}({dimension})
 limit %(limit)s;

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

-- name: lexemes
-- The words of a query as they are indexed, rarest first. `share` is the part of all chunks that has
-- the word, by the planner's statistics; a word that is not among the common ones is given half the
-- share of the rarest of those.
with word as (
    select lexeme from unnest(to_tsvector('english', %(words)s))
), common as (
    select stored.lexeme, stored.share
      from pg_stats as statistics
     cross join lateral unnest(statistics.most_common_elems::text::text[],
                               statistics.most_common_elem_freqs) as stored(lexeme, share)
     where statistics.schemaname = 'rag' and statistics.tablename = 'chunks'
       and statistics.attname = 'tsv')
select word.lexeme,
       coalesce(common.share, (select min(share) / 2 from common), 0.001)::float8 as share,
       (select greatest(reltuples, 1) from pg_class where oid = 'rag.chunks'::regclass)::float8
          as chunks
  from word
  left join common on common.lexeme = word.lexeme
 order by share, word.lexeme;

-- name: matches_all
-- Chunks with every word, and phrases as they were quoted. What matches by the thousand is ranked
-- in part: such a query does not tell the chunks apart.
select id, ts_rank_cd(tsv, websearch_to_tsquery('english', %(query)s), 1)::float8 as score
  from (
    select chunk.id, chunk.tsv
      from rag.chunks as chunk
      join rag.documents as document
        on document.id = chunk.document_id and document.deleted_at is null
      join rag.knowledge_sources as source
        on source.id = chunk.source_id and source.deleted_at is null
     where chunk.application_id = %(application_id)s
       and chunk.tsv @@ websearch_to_tsquery('english', %(query)s)
       and (%(source_ids)s::uuid[] is null or source.id = any(%(source_ids)s))
       and (%(metadata)s::jsonb is null or source.metadata @> %(metadata)s)
     limit %(ranked)s) as candidate
 order by score desc, id
 limit %(limit)s;

-- name: matches_any
-- Chunks that match `telling`, ranked by all terms: how often each is there, with diminishing
-- returns, times its weight. The copy of `tsv` is read from its storage once, not once per term.
select candidate.id, sum(term.weight * ts_rank(candidate.tsv, term.query, 1))::float8 as score
  from (
    select chunk.id, setweight(chunk.tsv, 'D') as tsv
      from rag.chunks as chunk
      join rag.documents as document
        on document.id = chunk.document_id and document.deleted_at is null
      join rag.knowledge_sources as source
        on source.id = chunk.source_id and source.deleted_at is null
     where chunk.application_id = %(application_id)s
       and chunk.tsv @@ %(telling)s::tsquery
       and (%(source_ids)s::uuid[] is null or source.id = any(%(source_ids)s))
       and (%(metadata)s::jsonb is null or source.metadata @> %(metadata)s)
     limit %(ranked)s) as candidate
 cross join unnest(%(terms)s::tsquery[], %(weights)s::float8[]) as term(query, weight)
 group by candidate.id
 order by score desc, candidate.id
 limit %(limit)s;

-- name: hits
select chunk.id as chunk_id, chunk.source_id as knowledge_source_id, chunk.document_id,
       coalesce(document.title,
                case source.type when 'file' then regexp_replace(document.uri, '^.*/', '') end,
                source.name) as title,
       document.uri, chunk.page, chunk.page_end, chunk.headings, chunk.content
  from rag.chunks as chunk
  join rag.documents as document
    on document.id = chunk.document_id and document.deleted_at is null
  join rag.knowledge_sources as source
    on source.id = chunk.source_id and source.deleted_at is null
 where chunk.id = any(%(ids)s) and chunk.application_id = %(application_id)s;
