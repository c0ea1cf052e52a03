-- The documents of a `url` or `site` source across its runs. Callers hold the lock of the source.

-- name: seen_unchanged
update rag.documents
   set etag = %(etag)s, last_modified = %(last_modified)s, content_hash = %(content_hash)s,
       links = %(links)s, warnings = array_remove(warnings, 'text_collapsed'), read_again = false
 where id = %(id)s;

-- name: texts_of_pattern
select uri, text from rag.documents
 where source_id = %(source_id)s and md5(url_pattern) = md5(%(pattern)s)
   and url_pattern = %(pattern)s and deleted_at is null and uri <> %(uri)s
   and length(text) between %(length)s * 0.8 and %(length)s * 1.25
 order by abs(length(text) - %(length)s), uri
 limit 10;

-- name: flag_collapsed
update rag.documents
   set warnings = array_append(array_remove(warnings, 'text_collapsed'), 'text_collapsed')
 where id = %(id)s;

-- name: counts
select coalesce(sum(chunk_count), 0)::bigint as chunks, coalesce(sum(token_count), 0)::bigint as tokens
  from rag.documents
 where source_id = %(source_id)s and md5(uri) = md5(%(uri)s) and deleted_at is null;

-- name: add_counts
update rag.knowledge_sources
   set chunk_count = chunk_count + %(chunks)s, token_count = token_count + %(tokens)s,
       embedding_model_id = %(model_id)s, updated_at = now()
 where id = %(source_id)s;

-- name: unseen
-- Documents whose page this run did not find, or found gone, duplicate or skipped. With any other
-- page status, even a failure, the document stays.
select document.id
  from rag.documents as document
 where document.source_id = %(source_id)s and document.deleted_at is null
   and not exists (
        select 1 from rag.crawl_pages as page
         where page.crawl_id = %(crawl_id)s and md5(page.uri) = md5(document.uri)
           and page.status not in ('gone', 'duplicate', 'skipped', 'held', 'removed'))
   -- If a URL pattern is at its limit, this run may have seen other pages of it than earlier runs.
   and (document.url_pattern is null
        or (select count(*) from rag.crawl_pages as page
             where page.crawl_id = %(crawl_id)s and md5(page.url_pattern) = md5(document.url_pattern))
           < %(most_variants)s
        -- The run found this very page gone, duplicate or skipped.
        or exists (select 1 from rag.crawl_pages as page
                    where page.crawl_id = %(crawl_id)s and md5(page.uri) = md5(document.uri)))
 order by document.id;

-- name: list_unseen
-- Lists documents to remove, or held for review, among the pages of the run.
insert into rag.crawl_pages
    (id, crawl_id, source_id, uri, fetch_url, url_pattern, status, document_id, chunk_count)
select gen_random_uuid(), %(crawl_id)s, document.source_id, document.uri, document.uri,
       document.uri, %(status)s, document.id,
       case when %(status)s = 'held' then document.chunk_count else 0 end
  from rag.documents as document
 where document.id = any(%(ids)s)
on conflict (crawl_id, md5(uri)) do update
   set status = excluded.status, document_id = excluded.document_id,
       chunk_count = excluded.chunk_count, updated_at = now();

-- name: decide_held
update rag.crawl_pages set status = %(status)s, updated_at = now()
 where crawl_id = %(crawl_id)s and status = 'held';

-- name: live
select count(*) from rag.documents where source_id = %(source_id)s and deleted_at is null;

-- name: remove_chunks
delete from rag.chunks where document_id = any(%(ids)s);

-- name: tombstone
update rag.documents
   set deleted_at = now(), chunk_count = 0, token_count = 0
 where id = any(%(ids)s) and deleted_at is null;

-- name: recount
-- Recomputes the exact numbers at the end of a run.
update rag.knowledge_sources as source
   set chunk_count = sums.chunks, token_count = sums.tokens, updated_at = now(),
       coverage = jsonb_build_object(
           'pages', sums.documents + pages.failed, 'withText', sums.documents, 'byOcr', 0,
           'empty', 0, 'unread', 0, 'failed', pages.failed, 'lost', '[]'::jsonb)
  from (select count(*) as documents, coalesce(sum(chunk_count), 0) as chunks,
               coalesce(sum(token_count), 0) as tokens
          from rag.documents where source_id = %(source_id)s and deleted_at is null) as sums,
       (select count(*) as failed
          from rag.crawl_pages where crawl_id = %(crawl_id)s and status = 'failed') as pages
 where source.id = %(source_id)s
returning source.chunk_count;
