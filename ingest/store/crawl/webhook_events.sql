-- The webhook inbox: a provider's events, stored unchanged and kept for a week after processing.

-- name: add
insert into rag.webhook_events (provider, dedupe_key, headers, body, blob_key, size_bytes)
values (%(provider)s, %(dedupe_key)s, %(headers)s, %(body)s, %(blob_key)s, %(size_bytes)s)
on conflict (provider, dedupe_key) do nothing
returning id;

-- name: wake
select pg_notify('rag_inbox', '');

-- name: list_waiting
select id, body, blob_key, attempts
  from rag.webhook_events
 where processed_at is null and (retry_at is null or retry_at <= now())
 order by id
 limit %(limit)s;

-- name: hold
select id from rag.webhook_events
 where id = %(id)s and processed_at is null
   for update skip locked;

-- name: mark_processed
update rag.webhook_events
   set processed_at = now(), type = %(type)s, provider_crawl_id = %(provider_crawl_id)s,
       crawl_id = %(crawl_id)s, error = %(error)s
 where id = %(id)s;

-- name: mark_failed
update rag.webhook_events
   set attempts = attempts + 1, error = %(error)s,
       retry_at = now() + %(delay)s::interval,
       processed_at = case when attempts + 1 >= %(max_attempts)s then now() end
 where id = %(id)s;

-- name: content
select body, blob_key from rag.webhook_events where id = %(id)s;

-- name: blobs
select blob_key from rag.webhook_events where blob_key = any(%(keys)s);

-- name: requeue_for_crawl
-- Events that arrived before their run's provider id was known.
update rag.webhook_events
   set processed_at = null, error = null
 where provider = 'firecrawl' and provider_crawl_id = %(provider_crawl_id)s and crawl_id is null
   and processed_at is not null;

-- name: forget
-- One bounded step. Keeps the events of open runs, whose pages may still need the content.
with old as materialized (
    select event.id, event.blob_key
      from rag.webhook_events as event
     where event.processed_at < now() - interval '7 days'
       and not exists (
            select 1 from rag.crawls as crawl
             where crawl.id = event.crawl_id and crawl.status in ('pending', 'running', 'finishing'))
     order by event.processed_at limit 1000)
delete from rag.webhook_events as event using old where event.id = old.id
returning old.blob_key;
