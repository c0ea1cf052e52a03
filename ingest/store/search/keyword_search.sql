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
-- The share of chunks that contain each common word, from the planner's statistics. `shares` has
-- extra elements at its end: first the smallest share, then the greatest.
select most_common_elems::text::text[] as words, most_common_elem_freqs::float8[] as shares
  from pg_stats
 where schemaname = 'rag' and tablename = 'chunks' and attname = 'tsv'
   and most_common_elems is not null;

-- name: matches
-- Chunks that match `telling`, ranked by all terms with BM25 (k1 1.2, b 0.75): the sum over terms
-- of weight times saturating term frequency, normalised by chunk length. Only some of thousands of
-- matches are ranked: such a query does not discriminate anyway. setweight copies `tsv`, so that it
-- is detoasted once, not once per term. Of the two queries for candidates the planner drops one.
--
-- ts_rank gives no term frequency n, so n is derived from it. For a word, ts_rank is the sum of
-- 1 / i^2 up to n, times 0.1 / (pi^2 / 6); the rest of the series is about 1 / (n + 1/2). So n
-- follows, even 0. For two adjacent words (numnode above 1) it is about 0.1 per occurrence.
with candidate as materialized (
    (select chunk.id, setweight(chunk.tsv, 'D') as tsv, chunk.token_count
       from rag.chunks as chunk
      where %(finds_deleted)s
        and chunk.application_id = %(application_id)s and chunk.tsv @@ %(telling)s::tsquery
      limit %(ranked)s)
    union all
    (select chunk.id, setweight(chunk.tsv, 'D') as tsv, chunk.token_count
       from rag.searchable_chunks as chunk
      where not %(finds_deleted)s
        and chunk.application_id = %(application_id)s and chunk.tsv @@ %(telling)s::tsquery
        and rag.passes_filter(chunk.source_id, chunk.metadata, %(source_ids)s, %(metadata)s)
      limit %(ranked)s)
), usual as (
    select greatest(avg(token_count), 1)::float8 as length from candidate
)
select candidate.id, ranked.score
  from candidate
 cross join usual
 cross join lateral (
    select sum(term.weight * times.n
               / (times.n + 0.3 + 0.9 * candidate.token_count / usual.length))::float8 as score
      from unnest(%(terms)s::tsquery[], %(weights)s::float8[]) as term(query, weight)
     cross join lateral (select ts_rank(candidate.tsv, term.query)::float8 * 10 as rank) as found
     cross join lateral (
        select case when numnode(term.query) > 1 then found.rank
                    else round(1 / greatest(1.6449341 * (1 - found.rank), 0.01) - 0.5) end as n
             ) as times
       ) as ranked
 order by ranked.score desc, candidate.id
 limit %(limit)s;
