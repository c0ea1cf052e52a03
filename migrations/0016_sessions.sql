-- Sessions of the dashboard, and the codes of links that open one.

create table app.sessions (
    -- SHA-256 of the cookie.
    session_hash    bytea primary key,
    -- Of the key; of the operator: the application that a request without a name means.
    application_id  uuid not null references app.applications on delete cascade,
    -- The key that signed in: what it may do is read from its row. Null: the operator's key.
    key_id          uuid references app.api_keys on delete cascade,
    -- HMAC of the hash with the operator's key, so that another key ends the session and no writer
    -- of this table can make one.
    operator_seal   bytea,
    created_at      timestamptz not null default now(),
    seen_at         timestamptz not null default now(),
    expires_at      timestamptz not null,
    check ((key_id is null) = (operator_seal is not null))
);
create index sessions_seen on app.sessions (seen_at);

-- The session that requested a ticket ends its sockets. Null: a key requested it.
alter table app.tickets add column session_hash bytea references app.sessions on delete cascade;
create index tickets_session on app.tickets (session_hash) where session_hash is not null;

-- Codes of the links that `ingest serve` and `ingest key link` print: they sign in as the operator.
create table app.sign_in_codes (
    code_hash       bytea primary key,
    application_id  uuid not null references app.applications on delete cascade,
    operator_seal   bytea not null,
    expires_at      timestamptz not null
);
