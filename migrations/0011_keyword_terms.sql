-- The keyword index holds terms that ingest/analysis makes of a chunk and of what it is about.

alter table rag.documents
    -- ISO 639-1; null: unknown.
    add column language text,
    -- False: stored by a version without these terms, or renamed; a tick makes them.
    add column terms_indexed boolean not null default false;
-- The vectors of equal texts are shared, and the text now begins with what the chunk is about.
alter table rag.chunks rename column content_hash to embedded_hash;
alter index rag.chunks_content_hash rename to chunks_embedded_hash;
create index documents_language on rag.documents (application_id, language)
    where language is not null;
create index documents_terms_missing on rag.documents (id) where not terms_indexed;

drop view rag.searchable_chunks;
drop view rag.keyword_index;
drop function rag.word_shares();
drop function rag.bm25(tsvector, integer, float8, tsquery[], float8[]);

alter table rag.unprotected_chunks drop column tsv, drop column keywords, drop column content,
    drop column token_count;
alter table rag.chunks drop column tsv, drop column keywords;
alter table rag.unprotected_chunks
    -- Terms of the title and path, the headings, and the body, each in order; then other spellings.
    -- Separators are between them. All numbers are salted (ingest/analysis/terms.py).
    add column words integer[] not null default '{}',
    -- Runs of four letters, in languages with compounds and many inflections; each once.
    add column grams integer[] not null default '{}',
    -- A random number: the smallest ones are the sample that gives the statistics of an application.
    add column sample integer not null default (random() * 2147483647)::integer;

-- Words stay in the row as long as they fit, because ranking reads those of hundreds of chunks.
alter table rag.chunks alter column words set storage main, alter column grams set storage external,
    -- Random numbers have no common values; to collect them is slow.
    alter column words set statistics 0, alter column grams set statistics 0;
create index chunks_words on rag.chunks using gin (words);
create index chunks_grams on rag.chunks using gin (grams);
create index chunks_sample on rag.chunks (application_id, sample);

create view rag.keyword_index as
select id, application_id, source_id, document_id, words, grams, sample
  from rag.unprotected_chunks
 where application_id = app.current_application();

-- Chunks that are not deleted, with what a search shows of their document and source.
create view rag.searchable_chunks as
select chunk.id, chunk.application_id, source.id as source_id, chunk.document_id,
       chunk.token_count, chunk.page, chunk.page_end, chunk.headings, chunk.content,
       document.title, document.uri, source.type as source_type, source.name as source_name,
       source.metadata
  from rag.chunks as chunk
  join rag.documents as document
    on document.id = chunk.document_id and document.deleted_at is null
  join rag.knowledge_sources as source
    on source.id = chunk.source_id and source.deleted_at is null;
