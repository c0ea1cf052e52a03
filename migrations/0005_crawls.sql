-- Crawls: runs, their pages, rate limits per host, and the inbox of Firecrawl's events.

-- One run of a `url` or `site` source: its first fetch or a re-scrape.
create table rag.crawls (
    id                  uuid primary key,
    application_id      uuid not null references app.applications on delete cascade,
    source_id           uuid not null references rag.knowledge_sources on delete cascade,
    -- The root job of the run.
    job_id              uuid not null,
    provider            text not null check (provider in ('builtin', 'firecrawl')),
    settings            jsonb not null default '{}',
    -- `finishing`: no more pages will be found; those found are still being processed.
    status              text not null default 'pending'
        check (status in ('pending', 'running', 'finishing', 'completed', 'failed', 'cancelled')),
    -- Pages that count towards the limit.
    page_count          integer not null default 0,
    -- Links that were not followed, counted by reason.
    skipped             jsonb not null default '{}',
    -- Latest retry time given to a page that found its host busy; the next page retries after it.
    host_queue_until    timestamptz,
    -- Whether it saw every page of the site; only such a run removes pages. Null: not ended.
    is_complete         boolean,
    provider_crawl_id   text,
    -- Set before the start request is sent. If its response is lost, the crawl is looked up at the
    -- provider; the request is not sent again.
    start_sent_at       timestamptz,
    -- Last sign of life or progress of the provider.
    provider_active_at  timestamptz,
    provider_progress   integer,
    -- Counts of what the run did.
    digest              jsonb,
    error_code          text,
    error_message       text,
    created_at          timestamptz not null default now(),
    started_at          timestamptz,
    ended_at            timestamptz
) with (fillfactor = 80);
create index crawls_source on rag.crawls (source_id, created_at desc, id desc);
create unique index crawls_job on rag.crawls (job_id);
create unique index crawls_provider on rag.crawls (provider, provider_crawl_id)
    where provider_crawl_id is not null;
create index crawls_ended on rag.crawls (ended_at, id) where ended_at is not null;

-- The frontier of a run and, in the end, the outcome of each page.
create table rag.crawl_pages (
    id                     uuid primary key,
    -- Order of discovery.
    position               bigint generated always as identity,
    crawl_id               uuid not null references rag.crawls on delete cascade,
    source_id              uuid not null,
    -- The normalised URL identifies the page; `fetch_url` is requested.
    uri                    text not null,
    fetch_url              text not null,
    -- URL pattern shared by generated pages of one kind; they are limited, so that a calendar ends.
    url_pattern            text not null,
    depth                  integer not null default 0,
    job_id                 uuid,
    -- `over_limit`: found when the limit was reached; queued when a place becomes free.
    status                 text not null default 'queued'
        check (status in ('queued', 'over_limit', 'new', 'changed', 'unchanged', 'kept',
                          'duplicate', 'gone', 'skipped', 'failed', 'held', 'removed')),
    http_status            integer,
    error_code             text,
    error_message          text,
    document_id            uuid,
    -- The uri of the page that this one is an alias or copy of.
    duplicate_of           text,
    -- The canonical URL that the page declares.
    canonical              text,
    -- The canonical URL has no document, so the page is stored as one of its own.
    ignores_canonical      boolean not null default false,
    -- The page failed, but its links as last stored were followed, so it hides no other page.
    followed_stored_links  boolean not null default false,
    content_hash           bytea,
    chunk_count            integer not null default 0,
    -- Tokens embedded for this page, and tokens not embedded because nothing had changed.
    tokens_spent           bigint not null default 0,
    tokens_saved           bigint not null default 0,
    -- Firecrawl: its scrape, and the inbox event and index in it that hold the content.
    scrape_id              text,
    event_id               bigint,
    event_index            integer,
    created_at             timestamptz not null default now(),
    updated_at             timestamptz not null default now()
) with (fillfactor = 80);
create unique index crawl_pages_identity on rag.crawl_pages (crawl_id, md5(uri));
create index crawl_pages_list on rag.crawl_pages (crawl_id, id);
create index crawl_pages_url_pattern on rag.crawl_pages (crawl_id, md5(url_pattern));
create index crawl_pages_status on rag.crawl_pages (crawl_id, status);
create index crawl_pages_scrape on rag.crawl_pages (crawl_id, scrape_id)
    where scrape_id is not null;
create index crawl_pages_job on rag.crawl_pages (job_id) where job_id is not null;

-- robots.txt and pauses per origin (scheme, host and port), shared by all workers.
create table rag.crawl_origins (
    origin             text primary key,
    -- Null: not fetched yet. `unavailable`: must be fetched before anything else is.
    robots_status      text check (robots_status in ('rules', 'none', 'unavailable')),
    robots_body        bytea,
    robots_fetched_at  timestamptz,
    -- Crawl-delay of robots.txt: time between the starts of two requests.
    crawl_delay        interval,
    -- Earliest start of the next request.
    next_request_at    timestamptz not null default '-infinity',
    -- Smoothed duration of a request.
    fetch_seconds      real not null default 0.5
) with (fillfactor = 70);

-- Requests under way; the slots of a dead worker expire.
create table rag.crawl_slots (
    job_id      uuid primary key,
    origin      text not null,
    expires_at  timestamptz not null
) with (fillfactor = 70);
create index crawl_slots_origin on rag.crawl_slots (origin);

-- The inbox: events of Firecrawl, stored as received and processed later.
create table rag.webhook_events (
    id                 bigint generated always as identity primary key,
    provider           text not null check (provider in ('firecrawl')),
    -- Digest of the body, which a repeated delivery shares, or of the page that reconcile fetched.
    dedupe_key         bytea not null,
    headers            jsonb not null default '{}',
    -- The body, or the blob of one that is too large for a row.
    body               bytea,
    blob_key           text,
    size_bytes         bigint not null,
    received_at        timestamptz not null default now(),
    -- Null: to be processed, not before `retry_at`.
    processed_at       timestamptz,
    retry_at           timestamptz,
    attempts           integer not null default 0,
    -- Of the event, and the crawl it belongs to, once read.
    type               text,
    provider_crawl_id  text,
    crawl_id           uuid,
    error              text,
    constraint body_or_blob check ((body is null) <> (blob_key is null)),
    unique (provider, dedupe_key)
);
create index webhook_events_unprocessed on rag.webhook_events (id) where processed_at is null;
create index webhook_events_processed on rag.webhook_events (processed_at);
create index webhook_events_crawl on rag.webhook_events (provider_crawl_id, id)
    where provider_crawl_id is not null;
create index webhook_events_blob on rag.webhook_events (blob_key) where blob_key is not null;
