-- Outgoing notifications: webhook endpoints, their events, and the outbox of deliveries.

create table rag.webhook_endpoints (
    id                     uuid primary key,
    application_id         uuid not null references app.applications on delete cascade,
    -- http://, https:// or mailto:
    url                    text not null,
    description            text not null default '',
    events                 text[] not null,
    -- In clear, because signing needs it. While one secret replaces another, both sign.
    secret                 text not null,
    previous_secret        text,
    previous_secret_until  timestamptz,
    is_enabled             boolean not null default true,
    disabled_reason        text,
    failing_since          timestamptz,
    -- In a row, since the last success.
    failures               integer not null default 0,
    -- While it fails: nothing is sent before this time; then one delivery tries and the rest wait.
    retry_at               timestamptz,
    created_at             timestamptz not null default now(),
    updated_at             timestamptz not null default now()
) with (fillfactor = 80);
create index webhook_endpoints_application on rag.webhook_endpoints
    (application_id, created_at desc, id desc);

create table rag.webhook_deliveries (
    -- Also the message id that receivers see.
    id               uuid primary key,
    position         bigint generated always as identity,
    endpoint_id      uuid not null references rag.webhook_endpoints on delete cascade,
    application_id   uuid not null references app.applications on delete cascade,
    event            text not null,
    -- Identifies the event, so that each endpoint is notified of it once.
    dedupe_key       text not null,
    -- Frozen: every attempt sends these bytes.
    body             text not null,
    status           text not null default 'pending'
        check (status in ('pending', 'delivered', 'failed')),
    -- The job that sends it.
    job_id           uuid,
    attempts         integer not null default 0,
    -- HTTP status and error of the last attempt.
    last_status      integer,
    last_error       text,
    last_attempt_at  timestamptz,
    delivered_at     timestamptz,
    created_at       timestamptz not null default now(),
    unique (endpoint_id, dedupe_key)
) with (fillfactor = 80);
create index webhook_deliveries_list on rag.webhook_deliveries (endpoint_id, position desc);
create index webhook_deliveries_pending_by_age on rag.webhook_deliveries (created_at)
    where status = 'pending';
create index webhook_deliveries_job on rag.webhook_deliveries (job_id);
create index webhook_deliveries_pending_by_endpoint on rag.webhook_deliveries (endpoint_id)
    where status = 'pending';
create index webhook_deliveries_age on rag.webhook_deliveries (created_at);
