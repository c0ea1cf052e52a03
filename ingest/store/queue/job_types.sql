-- Job types.

-- name: all
select type, handler, max_attempts, backoff_base, backoff_cap, timeout, stage_timeout,
       max_concurrent, rate_per_minute, payload_schema, is_built_in, is_enabled, is_paused
  from rag.job_types order by type;

-- name: lock
-- Of two concurrent edits, the second sees the result of the first.
select type, handler, max_attempts, backoff_base, backoff_cap, timeout, stage_timeout,
       max_concurrent, rate_per_minute, payload_schema, is_built_in, is_enabled, is_paused
  from rag.job_types where type = %(type)s
   for no key update;

-- name: get
select type, handler, max_attempts, backoff_base, backoff_cap, timeout, stage_timeout,
       max_concurrent, rate_per_minute, payload_schema, is_built_in, is_enabled, is_paused
  from rag.job_types where type = %(type)s;

-- name: add
insert into rag.job_types
    (type, handler, max_attempts, backoff_base, backoff_cap, timeout, stage_timeout, max_concurrent,
     rate_per_minute, payload_schema, is_enabled, is_paused)
values (%(type)s, %(handler)s, %(max_attempts)s, %(backoff_base)s, %(backoff_cap)s, %(timeout)s,
        %(stage_timeout)s, %(max_concurrent)s, %(rate_per_minute)s, %(payload_schema)s,
        %(is_enabled)s, %(is_paused)s)
on conflict (type) do nothing;

-- name: is_reserved
select exists (select 1 from rag.job_types where is_built_in and handler = %(handler)s);

-- name: delete
delete from rag.job_types where type = %(type)s and not is_built_in;

-- name: forget_rate
delete from rag.lanes where lane = 'type:' || %(type)s;

-- name: write
update rag.job_types
   set max_attempts = %(max_attempts)s, backoff_base = %(backoff_base)s,
       backoff_cap = %(backoff_cap)s, timeout = %(timeout)s, stage_timeout = %(stage_timeout)s,
       max_concurrent = %(max_concurrent)s, rate_per_minute = %(rate_per_minute)s,
       payload_schema = %(payload_schema)s, is_enabled = %(is_enabled)s,
       is_paused = %(is_paused)s, updated_at = now()
 where type = %(type)s;
