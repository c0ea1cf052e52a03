-- Applications (tenants), their keys, and what is kept per application: token budgets and replays.
-- The migrator (ingest/postgres/migrations.py) creates the extension `vector` and the schema `rag`.

create schema if not exists app;

create table app.applications (
    id          uuid primary key default gen_random_uuid(),
    name        text not null check (name <> ''),
    settings    jsonb not null default '{}',
    is_default  boolean not null default false,
    created_at  timestamptz not null default now()
);
create unique index applications_default on app.applications (is_default) where is_default;
-- Used by the operator's key when it names no other, so that a first upload needs no set-up.
insert into app.applications (name, is_default) values ('default', true);

create table app.api_keys (
    id              uuid primary key default gen_random_uuid(),
    application_id  uuid not null references app.applications on delete cascade,
    name            text not null,
    role            text not null check (role in ('viewer', 'editor', 'admin')),
    prefix          text not null,
    -- Unsalted SHA-256: keys are 256 random bits, so a slow hash adds nothing.
    key_hash        bytea not null unique,
    created_at      timestamptz not null default now(),
    revoked_at      timestamptz
);
create index api_keys_application on app.api_keys (application_id, created_at desc, id);

-- Short-lived keys for one WebSocket or event stream.
create table app.tickets (
    ticket_hash     bytea primary key,
    application_id  uuid not null references app.applications on delete cascade,
    -- The key that requested it: revoking that key ends its tickets. Null: the operator's key.
    key_id          uuid references app.api_keys on delete cascade,
    role            text not null check (role in ('viewer', 'editor', 'admin')),
    expires_at      timestamptz not null
);

-- Tokens embedded per application and day, for its daily budget.
create table rag.token_usage (
    application_id  uuid not null references app.applications on delete cascade,
    -- In UTC.
    day             date not null,
    tokens          bigint not null default 0,
    primary key (application_id, day)
) with (fillfactor = 50);

-- Responses to requests with an Idempotency-Key, replayed when the request is repeated.
create table rag.idempotency_keys (
    application_id  uuid not null references app.applications on delete cascade,
    key             text not null,
    request_hash    bytea not null,
    -- HTTP status and JSON body.
    status          smallint not null,
    response        jsonb not null,
    created_at      timestamptz not null default now(),
    primary key (application_id, key)
);
create index idempotency_keys_age on rag.idempotency_keys (created_at);
