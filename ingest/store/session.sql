-- name: begin
-- Overrides defaults of the server, database or role that would break our statements. These rely on
-- fixed encoding, date and isolation settings, and set timeouts themselves where they need one.
-- Timeouts set by the client (DATABASE_URL, PGOPTIONS) stay.
-- `apply`: set them, with `local` for the current transaction only. `is_default`: sessions of this
-- role begin with a value that suits us.
select setting.name, ours.value,
       case setting.name
            when 'search_path' then
                ours.value = any(regexp_split_to_array(setting.reset_val, '\s*,\s*'))
            when 'DateStyle' then setting.reset_val like 'ISO, %%'  -- we never write 1/2/2024
            when 'TimeZone' then setting.reset_val in ('UTC', 'Etc/UTC', 'GMT', 'Etc/GMT')
            else setting.reset_val = ours.value
       end as is_default,
       case when %(apply)s::boolean
            then set_config(setting.name, ours.value, %(local)s::boolean)
       end
  from (values
            ('client_encoding', 'UTF8'),
            ('DateStyle', 'ISO, MDY'),
            ('IntervalStyle', 'postgres'),
            ('TimeZone', 'UTC'),
            ('standard_conforming_strings', 'on'),
            ('default_transaction_isolation', 'read committed'),
            ('default_transaction_read_only', 'off'),
            ('row_security', 'on'),  -- off: statements fail instead of seeing fewer rows
            -- Table names are schema-qualified; the types of pgvector are not.
            ('search_path', coalesce(
                (select format('%%s', extnamespace::regnamespace)
                   from pg_extension where extname = 'vector'), 'public')),
            ('statement_timeout', '0'),
            ('lock_timeout', '0'),
            ('transaction_timeout', '0'),
            ('idle_session_timeout', '0')) as ours (name, value)
  join pg_settings as setting on setting.name = ours.name
 where not (setting.name like '%%timeout' and setting.source = 'client');

-- name: identity
-- The session at the server; unlike the process id, unique even over several servers. Not as
-- a timestamp: the role's DateStyle still applies, and the client might not read it.
select pid, extract(epoch from backend_start) from pg_stat_get_activity(pg_backend_pid());

-- name: notify
select pg_notify(%(channel)s, %(payload)s);
