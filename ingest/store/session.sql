-- name: begin
-- What a server, database or role may have by default and our statements cannot do with: they take
-- their text, times and isolation for granted, and those that need a limit of time set their own.
-- Limits that whoever connects has asked for (DATABASE_URL, PGOPTIONS) stay.
select set_config(setting.name, ours.value, false)
  from (values
            ('client_encoding', 'UTF8'),
            ('DateStyle', 'ISO, MDY'),
            ('IntervalStyle', 'postgres'),
            ('TimeZone', 'UTC'),
            ('standard_conforming_strings', 'on'),
            ('default_transaction_isolation', 'read committed'),
            ('default_transaction_read_only', 'off'),
            -- Tables are always named with their schema; the types of pgvector are not.
            ('search_path', coalesce(
                (select format('%s', extnamespace::regnamespace)
                   from pg_extension where extname = 'vector'), 'public')),
            ('statement_timeout', '0'),
            ('lock_timeout', '0'),
            ('transaction_timeout', '0'),
            ('idle_session_timeout', '0')) as ours (name, value)
  join pg_settings as setting on setting.name = ours.name
 where not (setting.name like '%timeout' and setting.source = 'client');
