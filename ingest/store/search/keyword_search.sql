-- name: parse
-- First statement of a search; it configures the transaction. The query as a tsquery, and its words
-- as indexed lexemes.
select set_config('statement_timeout', %(timeout_ms)s, true),
       set_config('jit', 'off', true),
       websearch_to_tsquery('english', %(strict)s)::text as strict,
       tsvector_to_array(to_tsvector('english', %(words)s)) as lexemes,
       (select greatest(reltuples, 1) from pg_class where oid = 'rag.chunks'::regclass)::float8
         as chunks;

-- name: shares
-- The share of chunks that contain each common word. `shares` has extra elements at its end: first
-- the smallest share, then the greatest.
select words, shares from rag.word_shares();

-- name: statistics_are_old
-- Whether the statistics that rag.word_shares reads are older than those of the chunks, where our
-- role cannot see these.
select row_security_active('rag.chunks')
   and coalesce(chunks.collected > coalesce(parent.collected, '-infinity'), false)
  from (select greatest(last_analyze, last_autoanalyze) as collected from pg_stat_user_tables
         where relid = 'rag.chunks'::regclass) as chunks
 cross join (
    select greatest(last_analyze, last_autoanalyze) as collected from pg_stat_user_tables
     where relid = 'rag.unprotected_chunks'::regclass) as parent;

-- name: collect_statistics
analyze rag.unprotected_chunks;

-- name: matches
-- Chunks that match `telling`, ranked by all terms. Only some of thousands of matches are ranked:
-- such a query does not discriminate anyway. setweight copies `tsv`, so that it is detoasted once,
-- not once per term.
with candidate as materialized (
    select chunk.id, setweight(chunk.tsv, 'D') as tsv, chunk.token_count
      from rag.keyword_index as chunk
      join rag.documents as document
        on document.id = chunk.document_id and document.deleted_at is null
      join rag.knowledge_sources as source
        on source.id = chunk.source_id and source.deleted_at is null
     where chunk.application_id = %(application_id)s and chunk.tsv @@ %(telling)s::tsquery
       and {passes}
     limit %(ranked)s
), usual as (
    select greatest(avg(token_count), 1)::float8 as length from candidate
)
select candidate.id, ranked.score
  from candidate
 cross join usual
 cross join lateral rag.bm25(
    candidate.tsv, candidate.token_count, usual.length, %(terms)s, %(weights)s) as ranked
 order by ranked.score desc, candidate.id
 limit %(limit)s;

-- name: matches_in_haste
-- The same without a filter, and with deleted chunks not yet purged.
with candidate as materialized (
    select chunk.id, setweight(chunk.tsv, 'D') as tsv, chunk.token_count
      from rag.keyword_index as chunk
     where chunk.application_id = %(application_id)s and chunk.tsv @@ %(telling)s::tsquery
     limit %(ranked)s
), usual as (
    select greatest(avg(token_count), 1)::float8 as length from candidate
)
select candidate.id, ranked.score
  from candidate
 cross join usual
 cross join lateral rag.bm25(
    candidate.tsv, candidate.token_count, usual.length, %(terms)s, %(weights)s) as ranked
 order by ranked.score desc, candidate.id
 limit %(limit)s;
