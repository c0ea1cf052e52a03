-- The frontier of a run and what became of each page. Writers hold the lock of the run.

-- name: for_job
select page.id, page.crawl_id, page.source_id, page.uri, page.fetch_url, page.depth,
       page.event_id, page.event_index, page.http_status, page.error_code, page.error_message
  from rag.crawl_pages as page
 where page.id = %(id)s;

-- name: of_run
-- The one page of a run that has no others.
select page.id, page.crawl_id, page.source_id, page.uri, page.fetch_url, page.depth,
       page.event_id, page.event_index, page.http_status, page.error_code, page.error_message
  from rag.crawl_pages as page
 where page.crawl_id = %(crawl_id)s
 order by page.id limit 1;

-- name: stored
-- What is searchable of an address.
select document.id, document.content_hash, document.text_hash, document.etag,
       document.last_modified, document.links, document.token_count, document.chunk_count,
       length(document.text) as text_length, document.embedding_model_id
  from rag.documents as document
 where document.source_id = %(source_id)s and md5(document.uri) = md5(%(uri)s)
   and document.uri = %(uri)s and document.deleted_at is null;

-- name: add
-- Without a job: beyond the limit.
insert into rag.crawl_pages (id, crawl_id, source_id, uri, fetch_url, shape, depth, job_id, status)
select new.id, %(crawl_id)s, %(source_id)s, new.uri, new.fetch_url, new.shape, new.depth, new.job_id,
       case when new.job_id is null then 'over_limit' else 'queued' end
  from unnest(%(ids)s::uuid[], %(uris)s::text[], %(fetch_urls)s::text[], %(shapes)s::text[],
              %(depths)s::integer[], %(job_ids)s::uuid[]) with ordinality
       as new(id, uri, fetch_url, shape, depth, job_id, n)
 order by new.n
on conflict (crawl_id, md5(uri)) do nothing
returning id, job_id;

-- name: known
select uri from rag.crawl_pages
 where crawl_id = %(crawl_id)s and md5(uri) = any(%(digests)s);

-- name: shapes
select shape, count(*) from rag.crawl_pages
 where crawl_id = %(crawl_id)s and md5(shape) = any(%(digests)s)
 group by shape;

-- name: count
update rag.crawls set page_count = page_count + %(change)s where id = %(crawl_id)s;

-- name: over_limit
select count(*) from rag.crawl_pages where crawl_id = %(crawl_id)s and status = 'over_limit';

-- name: promote
-- Places were given back: the pages that have waited longest get them.
with waiting as materialized (
    select id from rag.crawl_pages
     where crawl_id = %(crawl_id)s and status = 'over_limit'
     order by position limit %(places)s)
update rag.crawl_pages as page
   set status = 'queued', job_id = gen_random_uuid(), updated_at = now()
  from waiting
 where page.id = waiting.id
returning page.id, page.job_id;

-- name: add_seen
-- A page that needs no job: seen at once as skipped or as another name of a known page.
insert into rag.crawl_pages
    (id, crawl_id, source_id, uri, fetch_url, shape, depth, status, error_code, duplicate_of,
     http_status, error_message)
select new.id, %(crawl_id)s, %(source_id)s, new.uri, new.uri, new.uri, 0, new.status,
       new.error_code, new.duplicate_of, new.http_status, new.error_message
  from unnest(%(ids)s::uuid[], %(uris)s::text[], %(statuses)s::text[], %(codes)s::text[],
              %(duplicates)s::text[], %(http_statuses)s::integer[], %(messages)s::text[])
       as new(id, uri, status, error_code, duplicate_of, http_status, error_message)
on conflict (crawl_id, md5(uri)) do nothing;

-- name: by_uri
select id, status, document_id, uri, canonical
  from rag.crawl_pages
 where crawl_id = %(crawl_id)s and md5(uri) = md5(%(uri)s) and uri = %(uri)s;

-- name: same_text
-- A page of this run that has the same text under another address.
select page.id, page.uri, page.document_id, page.canonical, page.status
  from rag.documents as document
  join rag.crawl_pages as page
    on page.crawl_id = %(crawl_id)s and page.document_id = document.id
   and page.status in ('new', 'changed', 'unchanged') and page.id <> %(page_id)s
 where document.source_id = %(source_id)s and document.text_hash = %(text_hash)s
   and document.deleted_at is null
 order by page.uri
 limit 1;

-- name: rename
update rag.crawl_pages set uri = %(uri)s where id = %(id)s;

-- name: note_http_status
-- Of an attempt that is about to fail; only while the job is still the caller's.
update rag.crawl_pages as page
   set http_status = %(http_status)s, updated_at = now()
  from rag.processing_jobs as job
 where page.id = %(id)s and job.id = %(job_id)s and job.fence = %(fence)s
   and job.status = 'processing';

-- name: finish
update rag.crawl_pages
   set status = %(status)s, http_status = %(http_status)s, error_code = %(error_code)s,
       error_message = %(error_message)s, document_id = %(document_id)s,
       duplicate_of = %(duplicate_of)s, canonical = %(canonical)s,
       content_hash = %(content_hash)s, chunk_count = %(chunk_count)s,
       tokens_spent = %(tokens_spent)s, tokens_saved = %(tokens_saved)s, updated_at = now()
 where id = %(id)s;

-- name: demote
-- Another page with the same text takes its place.
update rag.crawl_pages
   set status = 'duplicate', duplicate_of = %(duplicate_of)s, document_id = null, chunk_count = 0,
       updated_at = now()
 where id = %(id)s;

-- name: record_failures
-- What the jobs of pages say is copied to the pages, since jobs are forgotten after a while.
update rag.crawl_pages as page
   set status = 'failed', error_code = job.last_error_code, error_message = job.last_error_message,
       updated_at = now()
  from rag.processing_jobs as job
 where page.crawl_id = %(crawl_id)s and page.status = 'queued' and job.id = page.job_id
   and job.status in ('failed', 'cancelled');

-- name: failed
-- Pages of a run that have nothing to show and no open job.
select page.id, page.job_id
  from rag.crawl_pages as page
 where page.crawl_id = %(crawl_id)s and page.status in ('failed', 'queued')
   and not exists (
        select 1 from rag.processing_jobs as job
         where job.id = page.job_id and job.status in ('pending', 'processing'))
 order by page.position;

-- name: requeue
update rag.crawl_pages as page
   set status = 'queued', error_code = null, error_message = null, http_status = null,
       job_id = again.job_id, updated_at = now()
  from unnest(%(ids)s::uuid[], %(job_ids)s::uuid[]) as again(id, job_id)
 where page.id = again.id;

-- name: states
select status, error_code, http_status, count(*) as n
  from rag.crawl_pages where crawl_id = %(crawl_id)s
 group by status, error_code, http_status;

-- name: blind_spots
-- Pages that failed, have no document whose links could stand in for theirs, and did not fail in
-- the run before as well: behind them may be pages that this run has not seen.
select count(*)
  from rag.crawl_pages as page
 where page.crawl_id = %(crawl_id)s and page.status = 'failed'
   and coalesce(page.http_status, 0) not in (404, 410)
   and not exists (
        select 1 from rag.documents as document
         where document.source_id = page.source_id and md5(document.uri) = md5(page.uri)
           and document.deleted_at is null)
   and not exists (
        select 1 from rag.crawl_pages as earlier
         where earlier.crawl_id = %(earlier_crawl_id)s and md5(earlier.uri) = md5(page.uri)
           and earlier.status = 'failed');

-- name: earlier_crawl
select id from rag.crawls
 where source_id = %(source_id)s and id <> %(crawl_id)s and status in ('completed', 'failed')
 order by created_at desc, id desc limit 1;
