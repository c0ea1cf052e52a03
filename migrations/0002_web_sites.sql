-- Web sites: runs of pages and crawls, their pages, politeness towards hosts, the webhook inbox,
-- and when sources are fetched again.

-- ---------------------------------------------------------------- sources and documents

alter table rag.knowledge_sources
    -- How a site is crawled: limit, depth, patterns, provider.
    add column crawl_settings    jsonb,
    -- Null: with all the others, nightly.
    add column rescrape_cron     text,
    add column rescrape_timezone text,
    add column next_rescrape_at  timestamptz,
    add constraint rescrape_is_whole
        check ((rescrape_cron is null) = (rescrape_timezone is null));
create index knowledge_sources_rescrape on rag.knowledge_sources (next_rescrape_at)
    where next_rescrape_at is not null and deleted_at is null;

alter table rag.documents
    -- What the server said of the version that is stored; the next fetch asks whether it changed.
    add column etag           text,
    add column last_modified  text,
    -- Digest of the text: pages whose markup changed but whose text did not need nothing done.
    add column text_hash      bytea,
    -- Whose vectors its chunks have: those of another model have to be made again.
    add column embedding_model_id smallint,
    -- Links of a page, so that an unchanged one leads on without being read again.
    add column links          text[] not null default '{}',
    -- Of a page that is one of many of its kind (by query, by date): what they have in common.
    add column shape          text;
create index documents_shape on rag.documents (source_id, md5(shape)) where shape is not null;
create index documents_text on rag.documents (source_id, text_hash) where text_hash is not null;

-- ---------------------------------------------------------------- runs and their pages

-- One run of a `url` or `site` source: its first fetch, and each fetch after that.
create table rag.crawls (
    id                 uuid primary key,
    application_id     uuid not null references app.applications on delete cascade,
    source_id          uuid not null references rag.knowledge_sources on delete cascade,
    -- The root job of the run.
    job_id             uuid not null,
    provider           text not null check (provider in ('builtin', 'firecrawl')),
    settings           jsonb not null default '{}',
    -- `finishing`: no further page will be found, those that were are still being worked on.
    status             text not null default 'pending'
        check (status in ('pending', 'running', 'finishing', 'completed', 'failed', 'cancelled')),
    -- Pages that count towards the limit.
    page_count         integer not null default 0,
    -- Links that were not followed, by reason.
    skipped            jsonb not null default '{}',
    -- When the next page that finds its host busy should look again.
    queue_until        timestamptz,
    -- Whether every page of the site was seen; only such a run may remove any.
    is_complete        boolean,
    provider_crawl_id  text,
    -- Written before the provider is asked to start: a lost answer is looked for, never asked again.
    start_sent_at      timestamptz,
    -- When the provider was last seen to get on.
    heard_at           timestamptz,
    provider_progress  integer,
    digest             jsonb,
    error_code         text,
    error_message      text,
    created_at         timestamptz not null default now(),
    started_at         timestamptz,
    ended_at           timestamptz
) with (fillfactor = 80);
create index crawls_source on rag.crawls (source_id, created_at desc, id desc);
create unique index crawls_job on rag.crawls (job_id);
create unique index crawls_provider on rag.crawls (provider, provider_crawl_id)
    where provider_crawl_id is not null;

-- The frontier of a crawl and, in the end, what became of each page.
create table rag.crawl_pages (
    id             uuid primary key,
    -- Order in which they were found.
    position       bigint generated always as identity,
    crawl_id       uuid not null references rag.crawls on delete cascade,
    source_id      uuid not null,
    -- The normalised address, under which a page is known; `fetch_url` is what is requested.
    uri            text not null,
    fetch_url      text not null,
    -- What generated pages have in common: they are counted, so that a calendar has an end.
    shape          text not null,
    depth          integer not null default 0,
    job_id         uuid,
    -- `over_limit`: found when the limit was reached; queued when a place is given back.
    status         text not null default 'queued'
        check (status in ('queued', 'over_limit', 'new', 'changed', 'unchanged', 'kept', 'duplicate',
                          'gone', 'skipped', 'failed', 'held', 'removed')),
    http_status    integer,
    error_code     text,
    error_message  text,
    document_id    uuid,
    duplicate_of   text,
    -- The address that the page itself calls the proper one.
    canonical      text,
    -- Its proper address turned out to have nothing: it is a page of its own, whatever it says.
    stands_alone   boolean not null default false,
    content_hash   bytea,
    chunk_count    integer not null default 0,
    -- Tokens that were embedded for this page, and that were not because nothing had changed.
    tokens_spent   bigint not null default 0,
    tokens_saved   bigint not null default 0,
    -- Firecrawl: the scrape, and where in the inbox its content is.
    scrape_id      text,
    event_id       bigint,
    event_index    integer,
    created_at     timestamptz not null default now(),
    updated_at     timestamptz not null default now()
) with (fillfactor = 80);
create unique index crawl_pages_identity on rag.crawl_pages (crawl_id, md5(uri));
create index crawl_pages_list on rag.crawl_pages (crawl_id, id);
create index crawl_pages_shape on rag.crawl_pages (crawl_id, md5(shape));
create index crawl_pages_status on rag.crawl_pages (crawl_id, status);
create index crawl_pages_scrape on rag.crawl_pages (crawl_id, scrape_id) where scrape_id is not null;
create index crawl_pages_job on rag.crawl_pages (job_id) where job_id is not null;

-- ---------------------------------------------------------------- politeness, shared by all workers

create table rag.crawl_origins (
    origin         text primary key,
    -- Null: not asked yet. `unavailable` is to be asked again, nothing may be fetched until then.
    robots_status  text check (robots_status in ('rules', 'none', 'unavailable')),
    robots         bytea,
    robots_at      timestamptz,
    -- Pause between the starts of two requests, as robots.txt wants it.
    delay          interval,
    next_at        timestamptz not null default '-infinity',
    -- How long a request takes, smoothed.
    fetch_seconds  real not null default 0.5
) with (fillfactor = 70);

-- Requests under way; those of a dead worker run out.
create table rag.crawl_slots (
    job_id      uuid primary key,
    origin      text not null,
    expires_at  timestamptz not null
) with (fillfactor = 70);
create index crawl_slots_origin on rag.crawl_slots (origin);

-- ---------------------------------------------------------------- the webhook inbox

create table rag.webhook_events (
    id                 bigint generated always as identity primary key,
    provider           text not null check (provider in ('firecrawl')),
    -- Digest of the body (a repeated delivery has the same bytes), or the page that it fills in.
    dedupe_key         bytea not null,
    headers            jsonb not null default '{}',
    body               bytea,
    -- Of a body too large for a row.
    blob_key           text,
    size_bytes         bigint not null,
    received_at        timestamptz not null default now(),
    -- Null: to be processed, not before `retry_at`.
    processed_at       timestamptz,
    retry_at           timestamptz,
    attempts           integer not null default 0,
    type               text,
    provider_crawl_id  text,
    crawl_id           uuid,
    error              text,
    check ((body is null) <> (blob_key is null)),
    unique (provider, dedupe_key)
);
create index webhook_events_open on rag.webhook_events (id) where processed_at is null;
create index webhook_events_age on rag.webhook_events (processed_at);
create index webhook_events_crawl on rag.webhook_events (provider_crawl_id, id)
    where provider_crawl_id is not null;
create index webhook_events_blob on rag.webhook_events (blob_key) where blob_key is not null;

-- ---------------------------------------------------------------- job types

insert into rag.job_types (type, handler, max_attempts, timeout) values
    ('url', 'url', 5, '15 minutes'),
    ('site_crawl', 'site_crawl', 5, '15 minutes'),
    ('crawl_page', 'crawl_page', 5, '15 minutes'),
    ('rescrape', 'rescrape', 5, '15 minutes'),
    ('stop_crawl', 'stop_crawl', 10, '5 minutes');
