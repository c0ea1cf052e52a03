-- Sign-ins of one key: a new session ends those beyond the limit.
create index if not exists sessions_key on app.sessions (key_id, seen_at);
