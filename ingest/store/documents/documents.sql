-- name: upsert
-- A document is identified by source and path or URL, so a later run replaces it.
insert into rag.documents
    (id, application_id, source_id, uri, title, media_type, status, error_code, content_hash, text,
     extractor, encoding, coverage, metadata, warnings, chunk_count, token_count, etag,
     last_modified, text_hash, embedding_model_id, links, url_pattern, held_by_job_id, pages,
     chunking, last_seen_job_id, language, terms_indexed, furniture, deleted_at)
select new.id, new.application_id, new.source_id, new.uri, new.title, new.media_type, new.status,
       new.error_code, new.content_hash, new.text, new.extractor, new.encoding, new.coverage,
       new.metadata, array(select jsonb_array_elements_text(new.warnings)), new.chunk_count,
       new.token_count, new.etag, new.last_modified, new.text_hash, new.embedding_model_id,
       array(select jsonb_array_elements_text(new.links)), new.url_pattern,
       new.held_by_job_id, new.pages, new.chunking, new.last_seen_job_id, new.language, new.terms_indexed,
       new.furniture, case when new.held_by_job_id is not null then now() end
  from unnest(%(id)b::uuid[], %(application_id)b::uuid[], %(source_id)b::uuid[], %(uri)b::text[],
              %(title)b::text[], %(media_type)b::text[], %(status)b::text[],
              %(error_code)b::text[], %(content_hash)b::bytea[], %(text)b::text[],
              %(extractor)b::text[], %(encoding)b::jsonb[], %(coverage)b::jsonb[],
              %(metadata)b::jsonb[], %(warnings)b::jsonb[], %(chunk_count)b::integer[],
              %(token_count)b::bigint[], %(etag)b::text[], %(last_modified)b::text[],
              %(text_hash)b::bytea[], %(embedding_model_id)b::smallint[], %(links)b::jsonb[],
              %(url_pattern)b::text[], %(held_by_job_id)b::uuid[], %(pages)b::jsonb[],
              %(chunking)b::jsonb[], %(last_seen_job_id)b::uuid[], %(language)b::text[], %(terms_indexed)b::boolean[],
              %(furniture)b::jsonb[])
       as new(id, application_id, source_id, uri, title, media_type, status, error_code,
              content_hash, text, extractor, encoding, coverage, metadata, warnings, chunk_count,
              token_count, etag, last_modified, text_hash, embedding_model_id, links, url_pattern,
              held_by_job_id, pages, chunking, last_seen_job_id, language, terms_indexed, furniture)
on conflict (source_id, md5(uri)) do update
   set title = excluded.title, media_type = excluded.media_type, status = excluded.status,
       error_code = excluded.error_code, content_hash = excluded.content_hash, text = excluded.text,
       extractor = excluded.extractor, encoding = excluded.encoding, coverage = excluded.coverage,
       metadata = excluded.metadata, warnings = excluded.warnings,
       chunk_count = excluded.chunk_count, token_count = excluded.token_count,
       etag = excluded.etag, last_modified = excluded.last_modified,
       text_hash = excluded.text_hash, embedding_model_id = excluded.embedding_model_id,
       links = excluded.links, url_pattern = excluded.url_pattern, pages = excluded.pages,
       chunking = excluded.chunking, last_seen_job_id = excluded.last_seen_job_id,
       language = excluded.language, terms_indexed = excluded.terms_indexed, furniture = excluded.furniture,
       updated_at = now(), deleted_at = excluded.deleted_at, read_again = false
returning id, source_id, uri, xmax = 0 as is_new;

-- name: delete_chunks
delete from rag.chunks where document_id = any(%(document_ids)s);

-- name: insert_chunks
-- Not COPY, which Postgres refuses for tables with row-level security. Arrays in JSON, or as slices
-- of one, because `unnest` would flatten an array of arrays.
insert into rag.chunks
    (id, application_id, source_id, document_id, ordinal, content, embedded_hash, token_count,
     headings, page, page_end, char_start, char_end, section_start, section_end,
     sections, words, grams)
select new.id, new.application_id, new.source_id, new.document_id, new.ordinal, new.content,
       new.embedded_hash, new.token_count, array(select jsonb_array_elements_text(new.headings)),
       new.page, new.page_end, new.char_start, new.char_end, new.section_start, new.section_end,
       new.sections, (%(words)b::integer[])[new.words_start:new.words_end],
       (%(grams)b::integer[])[new.grams_start:new.grams_end]
  from unnest(%(id)b::uuid[], %(application_id)b::uuid[], %(source_id)b::uuid[],
              %(document_id)b::uuid[], %(ordinal)b::integer[], %(content)b::text[],
              %(embedded_hash)b::bytea[], %(token_count)b::integer[], %(headings)b::jsonb[],
              %(page)b::integer[], %(page_end)b::integer[], %(char_start)b::integer[],
              %(char_end)b::integer[], %(section_start)b::integer[],
              %(section_end)b::integer[], %(sections)b::jsonb[], %(words_start)b::integer[],
              %(words_end)b::integer[], %(grams_start)b::integer[], %(grams_end)b::integer[])
       as new(id, application_id, source_id, document_id, ordinal, content, embedded_hash,
              token_count, headings, page, page_end, char_start, char_end, section_start,
              section_end, sections, words_start, words_end, grams_start, grams_end);

-- name: known_vectors
-- An application's vectors for these texts: from stored chunks, or cached by an unfinished job.
select wanted.application_id, wanted.text_hash, found.embedding
  from unnest(%(application_ids)b::uuid[], %(hashes)b::bytea[])
       as wanted(application_id, text_hash)
 cross join lateral (
    (select stored.embedding
       from rag.chunks as chunk
       join rag.embeddings as stored on stored.chunk_id = chunk.id and stored.model_id = %(model_id)s
      where chunk.application_id = wanted.application_id and chunk.embedded_hash = wanted.text_hash
      limit 1)
    union all
    (select cached.embedding
       from rag.embedding_cache as cached
      where cached.application_id = wanted.application_id and cached.model_id = %(model_id)s
        and cached.text_hash = wanted.text_hash)
    limit 1) as found;

-- name: cache_vectors
insert into rag.embedding_cache (application_id, model_id, text_hash, embedding)
select %(application_id)s, %(model_id)s, new.text_hash, new.embedding
  from unnest(%(hashes)b::bytea[], %(vectors)s::vector[]) as new(text_hash, embedding)
 order by new.text_hash
on conflict do nothing;

-- name: drop_cached
-- Their vectors are stored with chunks now. A row that another job is dropping is skipped.
with stored as materialized (
    select ctid from rag.embedding_cache
     where application_id = %(application_id)s and model_id = %(model_id)s
       and text_hash = any(%(hashes)s)
       for update skip locked)
delete from rag.embedding_cache where ctid = any(array(select ctid from stored));
