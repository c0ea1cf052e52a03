-- name: words
-- The query as a tsquery, and its words as they are indexed.
select {tuned},
       websearch_to_tsquery('english', %(strict)s)::text as strict,
       (select greatest(reltuples, 1) from pg_class where oid = 'rag.chunks'::regclass)::float8
         as chunks,
       tsvector_to_array(to_tsvector('english', %(words)s)) as lexemes;

-- name: shares
-- Which part of all chunks has each of the common words, by the planner's statistics. After these
-- come the least and the greatest of the shares.
select most_common_elems::text::text[] as words, most_common_elem_freqs::float8[] as shares
  from pg_stats
 where schemaname = 'rag' and tablename = 'chunks' and attname = 'tsv'
   and most_common_elems is not null;

-- name: matches
-- Chunks that match `telling`, ranked by all terms as BM25 does it (k1 1.2, b 0.75): how often each is
-- there, with diminishing returns, in a long chunk worth less, times its weight. What matches by the
-- thousand is ranked in part: such a query does not tell the chunks apart. The copy of `tsv` is read
-- from its storage once, not once per term.
--
-- ts_rank of a word that comes n times is the sum of 1 / i^2 up to n, times 0.1 / (pi^2 / 6); what is
-- missing from the whole sum is about 1 / (n + 1/2), so n can be had from it, 0 too. Two words in a row
-- (numnode above 1) have another formula: about 0.1 for each time.
with candidate as materialized ({candidates}
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

-- name: candidates
select chunk.id, setweight(chunk.tsv, 'D') as tsv, chunk.token_count
  from rag.chunks as chunk
  join rag.documents as document
    on document.id = chunk.document_id and document.deleted_at is null
  join rag.knowledge_sources as source
    on source.id = chunk.source_id and source.deleted_at is null
 where chunk.application_id = %(application_id)s
   and chunk.tsv @@ %(telling)s::tsquery
   and (%(source_ids)s::uuid[] is null or source.id = any(%(source_ids)s))
   and (%(metadata)s::jsonb is null or source.metadata @> %(metadata)s)
 limit %(ranked)s

-- name: candidates_in_haste
select chunk.id, setweight(chunk.tsv, 'D') as tsv, chunk.token_count
  from rag.chunks as chunk
 where chunk.application_id = %(application_id)s and chunk.tsv @@ %(telling)s::tsquery
 limit %(ranked)s
