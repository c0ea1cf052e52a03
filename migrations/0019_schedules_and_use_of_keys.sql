-- When a key was last used, to the hour: a write per request would cost more than the request.

alter table app.api_keys add column last_used_at timestamptz;

-- The list of sources with a schedule of their own, of one application, the next first.
create index if not exists knowledge_sources_own_schedule
    on rag.knowledge_sources (application_id, next_rescrape_at, id)
    where rescrape_cron is not null and deleted_at is null;
