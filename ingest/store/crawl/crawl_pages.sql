-- The pages of a run and their results. Writers hold the lock of the run.

-- name: for_job
select page.id, page.crawl_id, page.source_id, page.uri, page.fetch_url, page.depth,
       page.event_id, page.event_index, page.ignores_canonical, page.http_status, page.error_code,
       page.error_message
  from rag.crawl_pages as page
 where page.id = %(id)s;

-- name: first_page
-- The only page of a single-page run.
select page.id, page.crawl_id, page.source_id, page.uri, page.fetch_url, page.depth,
       page.event_id, page.event_index, page.ignores_canonical, page.http_status, page.error_code,
       page.error_message
  from rag.crawl_pages as page
 where page.crawl_id = %(crawl_id)s
 order by page.id limit 1;

-- name: stored_page
-- The searchable document at an address. One that must be read again equals no answer of a server.
select document.id,
       case when document.read_again then '' else document.content_hash end as content_hash,
       document.text_hash, case when not document.read_again then document.etag end as etag,
       case when not document.read_again then document.last_modified end as last_modified,
       document.links, document.token_count, document.chunk_count,
       length(document.text) + coalesce((
           select sum(length(part ->> 1))
             from jsonb_array_elements(document.furniture) as part), 0) as text_length,
       document.embedding_model_id
  from rag.documents as document
 where document.source_id = %(source_id)s and md5(document.uri) = md5(%(uri)s)
   and document.uri = %(uri)s and document.deleted_at is null;

-- name: was_removed
-- Whether an earlier run found the page gone. Retention keeps the newest runs whole, and each of them
-- says so again as long as something links to the page.
select exists (
    select 1 from rag.crawls as earlier
      join rag.crawl_pages as page
        on page.crawl_id = earlier.id and md5(page.uri) = md5(%(uri)s) and page.uri = %(uri)s
     where earlier.source_id = %(source_id)s and earlier.id <> %(crawl_id)s
       and page.status in ('gone', 'removed'));

-- name: find_by_uri
select id, status, document_id, uri, canonical
  from rag.crawl_pages
 where crawl_id = %(crawl_id)s and md5(uri) = md5(%(uri)s) and uri = %(uri)s;

-- name: find_same_text
-- A page of this run with the same text at another address.
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

-- name: save_http_status
-- Fenced: only while the caller still holds the job.
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

-- name: mark_duplicate
-- Another page with the same text replaces it.
update rag.crawl_pages
   set status = 'duplicate', duplicate_of = %(duplicate_of)s, document_id = null, chunk_count = 0,
       updated_at = now()
 where id = %(id)s;

-- name: record_failures
-- Copies job failures to the pages, since old jobs are deleted.
update rag.crawl_pages as page
   set status = 'failed', updated_at = now(),
       error_code = coalesce(job.last_error_code, page.error_code, 'cancelled'),
       error_message = coalesce(job.last_error_message, page.error_message, 'its job was removed')
  from rag.crawl_pages as queued
  left join rag.processing_jobs as job on job.id = queued.job_id
 where queued.crawl_id = %(crawl_id)s and queued.status = 'queued' and page.id = queued.id
   and coalesce(job.status, 'failed') in ('failed', 'cancelled');

-- name: fail_without_room
-- Pages within the run's limit that got no job, because the application had too many jobs.
with waiting as materialized (
    select page.id from rag.crawl_pages as page
     where page.crawl_id = %(crawl_id)s and page.status = 'over_limit'
     order by page.position
     limit (select greatest(0, %(most)s - page_count) from rag.crawls where id = %(crawl_id)s))
update rag.crawl_pages as page
   set status = 'failed', error_code = 'quota_exceeded', updated_at = now(),
       error_message = 'quota pendingJobs: the application had too many jobs to fetch this page'
  from waiting
 where page.id = waiting.id;

-- name: count_by_state
select status, error_code, http_status, count(*) as n
  from rag.crawl_pages where crawl_id = %(crawl_id)s
 group by status, error_code, http_status;

-- name: note_links_followed
-- Fenced: only while the caller still holds the job.
update rag.crawl_pages as page
   set followed_stored_links = true
  from rag.processing_jobs as job
 where page.id = %(id)s and job.id = %(job_id)s and job.fence = %(fence)s
   and job.status = 'processing';

-- name: count_unseen_behind_failures
-- Failed pages, and skipped ones with a code of `hiding`, that may link to pages this run has not
-- seen. Excludes pages whose stored links were
-- followed instead. Also excludes pages that failed in every earlier run that has them, if one of
-- those runs was the first or a complete one: that run found all stored pages without their links.
select count(*)
  from rag.crawl_pages as page
 where page.crawl_id = %(crawl_id)s
   and (page.status = 'failed' or page.status = 'skipped' and page.error_code = any(%(hiding)s))
   and coalesce(page.http_status, 0) not in (404, 410)
   and not page.followed_stored_links
   and not coalesce((
        select bool_or(earlier.is_unread and (run.is_complete or run.is_first))
               -- A provider also followed the links of pages that failed only in our processing.
               and bool_and(earlier.is_unread and (
                   %(follows_stored)s or earlier.error_code in ('fetch_failed', 'fetch_status')))
          from (select crawl.id, coalesce(crawl.is_complete, false) as is_complete,
                       row_number() over (order by crawl.created_at, crawl.id) = 1 as is_first
                  from rag.crawls as crawl
                 where crawl.source_id = page.source_id) as run
          cross join lateral (
                select page_then.error_code,
                       page_then.status = 'failed'
                       or page_then.status = 'skipped'
                          and coalesce(page_then.error_code = any(%(hiding)s), false) as is_unread
                  from rag.crawl_pages as page_then
                 where page_then.crawl_id = run.id and md5(page_then.uri) = md5(page.uri)
               ) as earlier
         where run.id <> %(crawl_id)s), false);

-- name: count_skipped
select count(*) from rag.crawl_pages
 where crawl_id = %(crawl_id)s and md5(url_pattern) = md5(%(pattern)s) and status = 'skipped'
   and error_code = %(code)s;
