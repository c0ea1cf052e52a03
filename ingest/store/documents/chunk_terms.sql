-- Terms of chunks that are made anew: of an earlier version, of a renamed source, of a published
-- document.

-- name: lock_next
-- The next document, with its source, which guards it. One that another transaction holds is
-- skipped: it is being replaced, or another process has it. The lock of the document itself makes
-- Postgres look again at one that another process has indexed since our statement began.
select document.id, document.application_id, document.uri, document.title,
       left(document.text, %(read)s) as beginning,
       case when source.type = 'file' and document.uri = source.uri then source.name end as source_name,
       coalesce(document.metadata ->> 'author', document.metadata ->> 'from') as author
  from rag.documents as document
  join rag.knowledge_sources as source on source.id = document.source_id
 where not document.terms_indexed
 order by document.id
 limit 1
   for no key update of source, document skip locked;

-- name: chunks
select id, content, headings
  from rag.chunks
 where document_id = %(document_id)s
 order by ordinal;

-- name: write
-- In the order in which `chunks` is read, by all who write the chunks of a document.
update rag.chunks as chunk
   set words = new.words::integer[], grams = new.grams::integer[]
  from unnest(%(ids)b::uuid[], %(words)b::text[], %(grams)b::text[]) as new(id, words, grams)
 where chunk.id = new.id;

-- name: give_up
update rag.documents set terms_indexed = true where id = %(document_id)s;

-- name: finish
update rag.documents set language = %(language)s, terms_indexed = true where id = %(document_id)s;
