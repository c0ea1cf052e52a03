-- name: all
select key, value from rag.worker_config;

-- name: lock_switches
-- Waits for claims in progress and blocks new ones until this transaction ends.
select pg_advisory_xact_lock(7245110386);

-- name: put
insert into rag.worker_config (key, value) values (%(key)s, %(value)s)
on conflict (key) do update set value = excluded.value, updated_at = now();

-- name: applied_migrations
select version from rag.schema_migrations;
