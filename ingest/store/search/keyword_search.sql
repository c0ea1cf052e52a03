-- name: begin
-- First statement of a search by words; it configures the transaction.
select set_config('statement_timeout', %(timeout_ms)s, true), set_config('jit', 'off', true),
       set_config('max_parallel_workers_per_gather', '0', true);

-- name: sample
-- The terms of random chunks of an application: those with the smallest random numbers.
select {terms}, max(sample)
  from (select id, words, grams, sample
          from rag.keyword_index
         where application_id = %(application_id)s
         order by sample
         limit %(limit)s) as chunk;

-- name: terms
-- Of several chunks, in one row: to send and to read hundreds of rows takes longer than the search.
string_agg(uuid_send(chunk.id), ''),
string_agg(int4send(cardinality(chunk.words)), ''), string_agg(array_send(chunk.words), ''),
string_agg(int4send(cardinality(chunk.grams)), ''), string_agg(array_send(chunk.grams), '')

-- name: languages
-- Skips from one language to the next, however many documents each has.
with recursive found as (
    (select language from rag.documents
      where application_id = %(application_id)s and language is not null
      order by language limit 1)
    union all
    select (select document.language from rag.documents as document
             where document.application_id = %(application_id)s
               and document.language > found.language
             order by document.language limit 1)
      from found where found.language is not null
)
select language from found where language is not null;

-- name: candidates
-- Chunks that meet any of the conditions, which are tried in their order until there are enough. One
-- of words has four groups of terms, and a chunk needs one term of each group; one of grams needs
-- all of them; there are several for each word, so none may take all the chunks. Many chunks meet
-- several conditions. Hits must have a phrase, so its order is checked here.
{few}
select {terms}
  from (
    select distinct on (met.id) met.id, met.words, met.grams
      from (
        (select found.id, found.words, found.grams
          from unnest(%(first)s::text[], %(second)s::text[], %(third)s::text[], %(fourth)s::text[],
                      %(phrases)s::text[]) as condition(first, second, third, fourth, phrase)
         cross join lateral (
            select chunk.id, chunk.words, chunk.grams
              from {chunks}
               and chunk.words && condition.first::integer[]
               and chunk.words && condition.second::integer[]
               and chunk.words && condition.third::integer[]
               and chunk.words && condition.fourth::integer[]
               and (condition.phrase is null
                    or array_to_string(chunk.words, ' ') ~ condition.phrase)
             limit %(most)s) as found
         limit %(most)s)
        union all
        (select found.id, found.words, found.grams
          from unnest(%(grams)s::text[]) as condition(grams)
         cross join lateral (
            select chunk.id, chunk.words, chunk.grams
              from {chunks}
               and chunk.grams @> condition.grams::integer[]
             limit %(most)s / 4) as found
         limit 2 * %(most)s)) as met) as chunk;

-- name: chunks
-- In `candidates`, unless a filter leaves few chunks.
rag.keyword_index as chunk {live}
         where chunk.application_id = %(application_id)s
           and {passes}

-- name: few
-- In `candidates`: the few chunks that pass a filter are read once. For the index of words, the
-- planner cannot know how many others have the words.
with few as materialized (
    select chunk.id, chunk.words, chunk.grams
      from {chunks})

-- name: few_chunks
-- In `candidates`.
few as chunk
         where true

-- name: live
-- In `candidates`: only chunks that are not deleted. A search in haste does without.
join rag.documents as document on document.id = chunk.document_id and document.deleted_at is null
join rag.knowledge_sources as source on source.id = chunk.source_id and source.deleted_at is null

-- name: terms_of
-- The terms of these chunks.
select {terms}
  from rag.keyword_index as chunk
 where application_id = %(application_id)s and id = any(%(ids)s);
