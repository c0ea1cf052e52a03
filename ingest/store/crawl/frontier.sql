-- The frontier of a run. Writers hold the lock of the run.

-- name: add
-- A page without a job is beyond the limit.
insert into rag.crawl_pages
    (id, crawl_id, source_id, uri, fetch_url, url_pattern, depth, job_id, status)
select new.id, %(crawl_id)s, %(source_id)s, new.uri, new.fetch_url, new.url_pattern, new.depth,
       new.job_id,
       case when new.job_id is null then 'over_limit' else 'queued' end
  from unnest(%(ids)s::uuid[], %(uris)s::text[], %(fetch_urls)s::text[], %(url_patterns)s::text[],
              %(depths)s::integer[], %(job_ids)s::uuid[]) with ordinality
       as new(id, uri, fetch_url, url_pattern, depth, job_id, n)
 order by new.n
on conflict (crawl_id, md5(uri)) do nothing
returning id, job_id;

-- name: known
select uri from rag.crawl_pages
 where crawl_id = %(crawl_id)s and md5(uri) = any(%(digests)s);

-- name: url_patterns
-- Pages per URL pattern: those of the run, plus stored documents not reached yet. The latter
-- have their places reserved, so that every run sees the same part of a calendar.
select url_pattern, sum(n)::integer
  from (select url_pattern, count(*) as n from rag.crawl_pages
         where crawl_id = %(crawl_id)s and md5(url_pattern) = any(%(digests)s)
         group by url_pattern
        union all
        select document.url_pattern, count(*) from rag.documents as document
         where document.source_id = %(source_id)s and md5(document.url_pattern) = any(%(digests)s)
           and document.url_pattern is not null and document.deleted_at is null
           and not exists (
                select 1 from rag.crawl_pages as page
                 where page.crawl_id = %(crawl_id)s and md5(page.uri) = md5(document.uri))
         group by document.url_pattern) as pages
 group by url_pattern;

-- name: stored
select uri from rag.documents
 where source_id = %(source_id)s and md5(uri) = any(%(digests)s) and deleted_at is null;

-- name: count
update rag.crawls set page_count = page_count + %(change)s where id = %(crawl_id)s;

-- name: count_stored_only
-- Addresses that have a document but are not yet pages of this run.
select count(*) from rag.documents as document
 where document.source_id = %(source_id)s and md5(document.uri) = any(%(digests)s)
   and document.deleted_at is null
   and not exists (select 1 from rag.crawl_pages as page
                    where page.crawl_id = %(crawl_id)s and md5(page.uri) = md5(document.uri));

-- name: count_over_limit
select count(*) from rag.crawl_pages where crawl_id = %(crawl_id)s and status = 'over_limit';

-- name: promote
-- Places were given back: the pages waiting longest get them.
with waiting as materialized (
    select id from rag.crawl_pages
     where crawl_id = %(crawl_id)s and status = 'over_limit'
     order by position limit %(room)s)
update rag.crawl_pages as page
   set status = 'queued', job_id = gen_random_uuid(), updated_at = now()
  from waiting
 where page.id = waiting.id
returning page.id, page.job_id;

-- name: add_seen
-- Pages that need no job: skipped, failed, or an alias of another page.
insert into rag.crawl_pages
    (id, crawl_id, source_id, uri, fetch_url, url_pattern, depth, status, error_code, duplicate_of,
     http_status, error_message)
select new.id, %(crawl_id)s, %(source_id)s, new.uri, new.uri, new.uri, 0, new.status,
       new.error_code, new.duplicate_of, new.http_status, new.error_message
  from unnest(%(ids)s::uuid[], %(uris)s::text[], %(statuses)s::text[], %(codes)s::text[],
              %(duplicates)s::text[], %(http_statuses)s::integer[], %(messages)s::text[])
       as new(id, uri, status, error_code, duplicate_of, http_status, error_message)
on conflict (crawl_id, md5(uri)) do nothing;

-- name: requeueable
-- Pages without an open job: those without a result, or with `all`, every page that got a job.
select page.id, page.job_id,
       page.status in ('duplicate', 'skipped', 'gone') as gave_place_back
  from rag.crawl_pages as page
 where page.crawl_id = %(crawl_id)s and page.job_id is not null
   and (page.status in ('failed', 'queued') or %(all)s)
   and not exists (
        select 1 from rag.processing_jobs as job
         where job.id = page.job_id and job.status in ('pending', 'processing'))
 order by page.position;

-- name: orphans
-- Pages taken for aliases of their canonical URL, which turned out to have no document.
select page.id, page.job_id
  from rag.crawl_pages as page
 where page.crawl_id = %(crawl_id)s and page.status = 'duplicate' and page.job_id is not null
   and page.canonical = page.duplicate_of and not page.ignores_canonical
   and not exists (
        select 1 from rag.documents as document
         where document.source_id = page.source_id
           and md5(document.uri) = md5(page.duplicate_of) and document.deleted_at is null)
 order by page.position;

-- name: ignore_canonical
update rag.crawl_pages
   set status = 'queued', ignores_canonical = true, duplicate_of = null, updated_at = now()
 where id = any(%(ids)s);

-- name: forget_unseen
-- The run determines the removed and held pages again.
delete from rag.crawl_pages
 where crawl_id = %(crawl_id)s and status in ('held', 'removed') and job_id is null;

-- name: requeue
update rag.crawl_pages as page
   set status = 'queued', error_code = null, error_message = null, http_status = null,
       followed_stored_links = false,
       job_id = again.job_id, updated_at = now()
  from unnest(%(ids)s::uuid[], %(job_ids)s::uuid[]) as again(id, job_id)
 where page.id = again.id;
