-- State of runs, for their handlers.

-- name: get
select crawl.id, crawl.application_id, crawl.source_id, crawl.job_id, crawl.provider,
       crawl.settings, crawl.status, crawl.page_count, crawl.provider_crawl_id,
       crawl.start_sent_at, crawl.created_at, crawl.error_code, crawl.error_message,
       source.uri, source.type as source_type,
       extract(epoch from now() - coalesce(
           crawl.provider_active_at, crawl.start_sent_at, crawl.created_at))::float8
           as silent_seconds,
       extract(epoch from now() - crawl.start_sent_at)::float8 as sent_seconds_ago
  from rag.crawls as crawl
  join rag.knowledge_sources as source on source.id = crawl.source_id
 where crawl.id = %(id)s and source.deleted_at is null;

-- name: lock
-- Any transaction that adds pages to a run or ends it takes this lock.
select crawl.status, crawl.page_count, crawl.settings
  from rag.crawls as crawl where crawl.id = %(id)s
   for no key update;

-- name: lock_source
select id from rag.knowledge_sources where id = %(id)s and deleted_at is null for no key update;

-- name: save_first_attempt
update rag.crawls set start_sent_at = coalesce(start_sent_at, now()) where id = %(id)s;

-- name: mark_running
update rag.crawls
   set status = 'running', started_at = coalesce(started_at, now()), ended_at = null,
       error_code = null, error_message = null
 where id = %(id)s;

-- name: mark_finishing
update rag.crawls
   set status = 'finishing', error_code = %(error_code)s, error_message = %(error_message)s
 where id = %(id)s and status in ('pending', 'running');

-- name: end
update rag.crawls
   set status = %(status)s, ended_at = now(), is_complete = %(is_complete)s,
       error_code = %(error_code)s, error_message = %(error_message)s
 where id = %(id)s and status in ('pending', 'running', 'finishing', 'failed');

-- name: record_start_sent
update rag.crawls
   set start_sent_at = now(), status = 'running', started_at = now()
 where id = %(id)s and start_sent_at is null and status = 'pending'
returning id;

-- name: clear_start_sent
-- The provider has certainly not started it, so the start may be retried.
update rag.crawls set start_sent_at = null, status = 'pending' where id = %(id)s;

-- name: restart
-- A retried run starts over: it drops the provider's counts and its list of removed or held pages,
-- and determines both again.
with forgotten as (
    delete from rag.crawl_pages
     where crawl_id = %(id)s and status in ('held', 'removed') and job_id is null)
update rag.crawls
   set status = 'pending', skipped = skipped - array['not_scraped', 'not_delivered'],
       start_sent_at = null, provider_crawl_id = null, provider_active_at = null,
       provider_progress = null, ended_at = null, error_code = null, error_message = null
 where id = %(id)s;

-- name: save_provider_id
update rag.crawls
   set provider_crawl_id = %(provider_crawl_id)s, provider_active_at = now(),
       start_sent_at = coalesce(start_sent_at, now()), started_at = coalesce(started_at, now()),
       status = case when status = 'pending' then 'running' else status end
 where id = %(id)s and provider_crawl_id is null;

-- name: note_progress
update rag.crawls
   set provider_active_at = now(), provider_progress = %(progress)s
 where id = %(id)s and provider_progress is distinct from %(progress)s;

-- name: record_event
update rag.crawls set provider_active_at = now() where id = %(id)s;

-- name: find_for_event
-- The run that an event belongs to: by our id, else by the provider's.
select crawl.id, crawl.application_id, crawl.source_id, crawl.job_id, crawl.status,
       crawl.provider_crawl_id, crawl.start_sent_at
  from rag.crawls as crawl
  join rag.knowledge_sources as source on source.id = crawl.source_id
 where crawl.provider = 'firecrawl' and source.deleted_at is null
   and (crawl.id = %(id)s or crawl.provider_crawl_id = %(provider_crawl_id)s)
 order by crawl.id = %(id)s desc
 limit 1;

-- name: owned_by_other_runs
-- The provider's crawls that are known to belong to other runs.
select provider_crawl_id from rag.crawls
 where provider_crawl_id = any(%(ids)s) and id <> %(id)s;

-- name: add_skipped
update rag.crawls as crawl
   set skipped = (
        select coalesce(jsonb_object_agg(merged.reason, merged.n), '{}')
          from (select reason, sum(n) as n
                  from (select key as reason, value::bigint as n from jsonb_each_text(crawl.skipped)
                        union all
                        select key, value::bigint from jsonb_each_text(%(skipped)s)) as parts
                 group by reason) as merged)
 where crawl.id = %(id)s;

-- name: set_missing_counts
-- Drops counts of 0.
update rag.crawls as crawl
   set skipped = (
        select coalesce(jsonb_object_agg(known.reason, known.n), '{}')
          from (select reason, max(n) as n
                  from (select key as reason, value::bigint as n
                          from jsonb_each_text(crawl.skipped - array(select jsonb_object_keys(%(exactly)s)))
                        union all
                        select key, value::bigint
                          from jsonb_each_text(%(at_least)s::jsonb || %(exactly)s::jsonb)) as parts
                 group by reason) as known
         where known.n > 0)
 where crawl.id = %(id)s;

-- name: skipped
select skipped from rag.crawls where id = %(id)s;

-- name: digest
-- Summary of a run: written when it ends, and again when one of its pages is retried later.
with pages as (
    select count(*) filter (where status = 'new') as new,
           count(*) filter (where status = 'changed') as changed,
           count(*) filter (where status = 'unchanged') as unchanged,
           count(*) filter (where status = 'kept') as kept,
           count(*) filter (where status = 'duplicate') as duplicate,
           count(*) filter (where status = 'skipped') as skipped,
           count(*) filter (where status = 'failed') as failed,
           count(*) filter (where status = 'over_limit') as over_limit,
           coalesce(sum(tokens_spent), 0) as spent,
           coalesce(sum(tokens_saved), 0) as saved
      from rag.crawl_pages where crawl_id = %(id)s)
update rag.crawls as crawl
   set digest = jsonb_build_object(
           'new', pages.new, 'changed', pages.changed, 'unchanged', pages.unchanged,
           'kept', pages.kept, 'duplicate', pages.duplicate, 'skipped', pages.skipped, 'failed', pages.failed,
           'overLimit', pages.over_limit + coalesce((crawl.skipped ->> 'limit')::integer, 0),
           'removed', coalesce(%(removed)s::integer, (crawl.digest ->> 'removed')::integer, 0),
           'removalsHeld', coalesce(%(held)s::integer, (crawl.digest ->> 'removalsHeld')::integer, 0),
           'furniture', coalesce((
               select jsonb_array_length(found.blocks) from rag.site_furniture as found
                where found.source_id = crawl.source_id), 0),
           'tokensSpent', pages.spent, 'tokensSaved', pages.saved)
  from pages
 where crawl.id = %(id)s
returning crawl.digest;
