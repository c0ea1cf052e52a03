-- name: get
select value from rag.worker_config where key = %(key)s;

-- name: put
insert into rag.worker_config (key, value) values (%(key)s, %(value)s)
on conflict (key) do update set value = excluded.value, updated_at = now();

-- name: edit_job_type
update rag.job_types
   set is_enabled = coalesce(%(is_enabled)s, is_enabled),
       is_paused = coalesce(%(is_paused)s, is_paused),
       max_attempts = coalesce(%(max_attempts)s, max_attempts),
       backoff_base = coalesce(%(backoff_base)s, backoff_base),
       backoff_cap = coalesce(%(backoff_cap)s, backoff_cap),
       timeout = coalesce(%(timeout)s, timeout)
 where type = %(type)s
returning type, handler, max_attempts, backoff_base, backoff_cap, timeout, is_enabled, is_paused;

-- name: applied_migrations
select version from rag.schema_migrations;
