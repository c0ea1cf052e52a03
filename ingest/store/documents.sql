-- name: upsert
-- A document is known by its path or URL within its source, so a second run replaces the first.
insert into rag.documents
    (id, application_id, source_id, uri, title, media_type, status, error_code, content_hash, text,
     extractor, encoding, coverage, metadata, warnings, chunk_count, token_count, etag,
     last_modified, text_hash, embedding_model_id, links, shape, held_by, pages, chunking, seen_by,
     deleted_at)
select new.id, new.application_id, new.source_id, new.uri, new.title, new.media_type, new.status,
       new.error_code, new.content_hash, new.text, new.extractor, new.encoding, new.coverage,
       new.metadata, array(select jsonb_array_elements_text(new.warnings)), new.chunk_count,
       new.token_count, new.etag, new.last_modified, new.text_hash, new.embedding_model_id,
       array(select jsonb_array_elements_text(new.links)), new.shape, new.held_by,
       new.pages, new.chunking, new.seen_by, case when new.held_by is not null then now() end
  from unnest(%(id)s::uuid[], %(application_id)s::uuid[], %(source_id)s::uuid[], %(uri)s::text[],
              %(title)s::text[], %(media_type)s::text[], %(status)s::text[],
              %(error_code)s::text[], %(content_hash)s::bytea[], %(text)s::text[],
              %(extractor)s::text[], %(encoding)s::jsonb[], %(coverage)s::jsonb[],
              %(metadata)s::jsonb[], %(warnings)s::jsonb[], %(chunk_count)s::integer[],
              %(token_count)s::bigint[], %(etag)s::text[], %(last_modified)s::text[],
              %(text_hash)s::bytea[], %(embedding_model_id)s::smallint[], %(links)s::jsonb[],
              %(shape)s::text[], %(held_by)s::uuid[], %(pages)s::jsonb[], %(chunking)s::jsonb[],
              %(seen_by)s::uuid[])
       as new(id, application_id, source_id, uri, title, media_type, status, error_code,
              content_hash, text, extractor, encoding, coverage, metadata, warnings, chunk_count,
              token_count, etag, last_modified, text_hash, embedding_model_id, links, shape,
              held_by, pages, chunking, seen_by)
on conflict (source_id, md5(uri)) do update
   set title = excluded.title, media_type = excluded.media_type, status = excluded.status,
       error_code = excluded.error_code, content_hash = excluded.content_hash, text = excluded.text,
       extractor = excluded.extractor, encoding = excluded.encoding, coverage = excluded.coverage,
       metadata = excluded.metadata, warnings = excluded.warnings,
       chunk_count = excluded.chunk_count, token_count = excluded.token_count,
       etag = excluded.etag, last_modified = excluded.last_modified,
       text_hash = excluded.text_hash, embedding_model_id = excluded.embedding_model_id,
       links = excluded.links, shape = excluded.shape, pages = excluded.pages,
       chunking = excluded.chunking, seen_by = excluded.seen_by, updated_at = now(),
       deleted_at = excluded.deleted_at
returning id, source_id, uri, xmax = 0 as is_new;

-- name: delete_chunks
delete from rag.chunks where document_id = any(%(document_ids)s);

-- name: copy_chunks
copy rag.chunks (id, application_id, source_id, document_id, ordinal, content, content_hash,
                 token_count, headings, page, page_end, char_start, char_end, keywords,
                 section_start, section_end)
from stdin (format binary);

-- name: known_vectors
-- Vectors that applications have for texts of theirs: of stored chunks, or paid for by an unfinished
-- job.
select wanted.application_id, wanted.text_hash, found.embedding
  from unnest(%(application_ids)s::uuid[], %(hashes)s::bytea[])
       as wanted(application_id, text_hash)
 cross join lateral (
    (select stored.embedding
       from rag.chunks as chunk
       join rag.embeddings as stored on stored.chunk_id = chunk.id and stored.model_id = %(model_id)s
      where chunk.application_id = wanted.application_id and chunk.content_hash = wanted.text_hash
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
  from unnest(%(hashes)s::bytea[], %(vectors)s::vector[]) as new(text_hash, embedding)
 order by new.text_hash
on conflict do nothing;

-- name: drop_cached
-- They are in rag.embeddings now.
delete from rag.embedding_cache
 where application_id = %(application_id)s and model_id = %(model_id)s
   and text_hash = any(%(hashes)s);
