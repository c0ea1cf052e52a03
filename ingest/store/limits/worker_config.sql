-- name: all
select key, value from rag.worker_config;

-- name: put
insert into rag.worker_config (key, value) values (%(key)s, %(value)s)
on conflict (key) do update set value = excluded.value, updated_at = now();

-- name: applied_migrations
select version from rag.schema_migrations;
