-- Pages that a provider fetched. Writers hold the lock of the run.

-- name: root_priority
select priority from rag.processing_jobs where id = %(id)s;

-- name: known
-- The pages of a run at these addresses or from these scrapes.
select id, uri, fetch_url, scrape_id, status, event_id, job_id
  from rag.crawl_pages
 where crawl_id = %(crawl_id)s
   and (md5(uri) = any(%(digests)s) or scrape_id = any(%(scrape_ids)s));

-- name: add
insert into rag.crawl_pages
    (id, crawl_id, source_id, uri, fetch_url, url_pattern, job_id, scrape_id, http_status,
     error_code, error_message, event_id, event_index)
select new.id, %(crawl_id)s, %(source_id)s, new.uri, new.fetch_url, new.url_pattern, new.job_id,
       new.scrape_id, new.http_status, new.error_code, new.error_message,
       case when new.event_index is not null then %(event_id)s::bigint end, new.event_index
  from unnest(%(ids)s::uuid[], %(job_ids)s::uuid[], %(uris)s::text[], %(fetch_urls)s::text[],
              %(url_patterns)s::text[], %(scrape_ids)s::text[], %(http_statuses)s::integer[],
              %(codes)s::text[], %(messages)s::text[], %(indexes)s::integer[])
       as new(id, job_id, uri, fetch_url, url_pattern, scrape_id, http_status, error_code,
              error_message, event_index);

-- name: renew
-- Pages that had failed and were fetched after all.
update rag.crawl_pages as page
   set status = 'queued', uri = new.uri, fetch_url = new.fetch_url, url_pattern = new.url_pattern,
       job_id = new.job_id, scrape_id = new.scrape_id, http_status = new.http_status,
       error_code = null, error_message = null,
       event_id = %(event_id)s, event_index = new.event_index, updated_at = now()
  from unnest(%(ids)s::uuid[], %(job_ids)s::uuid[], %(uris)s::text[], %(fetch_urls)s::text[],
              %(url_patterns)s::text[], %(scrape_ids)s::text[], %(http_statuses)s::integer[],
              %(indexes)s::integer[])
       as new(id, job_id, uri, fetch_url, url_pattern, scrape_id, http_status, event_index)
 where page.id = new.id;

-- name: lock_jobs
-- Does not wait for jobs: the caller already holds the run.
with free as materialized (
    select id, status from rag.processing_jobs
     where id = any(%(ids)s)
     order by id
       for update skip locked)
select job.id, coalesce(free.status, job.status) as status, free.id is not null as is_locked
  from rag.processing_jobs as job
  left join free on free.id = job.id
 where job.id = any(%(ids)s);

-- name: reopen_jobs
-- Bumps the fence: a running attempt still works on the failure and must lose its lease.
update rag.processing_jobs
   set status = 'pending', attempts = 0, fence = fence + 1, run_at = null, wait_reason = null,
       locked_by = null, locked_at = null, completed_at = null, progress = 0, stage = null,
       last_error_code = null, last_error_message = null
 where id = any(%(ids)s) and status in ('pending', 'processing', 'failed', 'completed');

-- name: page_event
-- The event with a page's content; no row if the event was deleted.
select event.body, event.blob_key, page.event_index
  from rag.crawl_pages as page
  join rag.webhook_events as event on event.id = page.event_id
 where page.id = %(id)s;

-- name: is_cut_off
-- The provider knows the limit and reports nothing beyond it. `page_count` alone is not enough: we
-- give back the places of duplicates, the provider does not. Nor is the number of pages: two of its
-- addresses may normalise to one of ours. Pages that it could not fetch took no place.
select coalesce(crawl.provider_progress, 0) >= %(limit)s or crawl.page_count >= %(limit)s
       or (select count(*) from rag.crawl_pages as page
            where page.crawl_id = crawl.id and page.status not in ('held', 'removed')
              and coalesce(page.error_code, '') not in ('fetch_failed', 'robots_disallowed'))
          >= %(limit)s
  from rag.crawls as crawl where crawl.id = %(crawl_id)s;
