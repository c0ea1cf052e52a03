-- name: begin
-- Overrides defaults of the server, database or role that would break our statements. These rely on
-- fixed encoding, date and isolation settings, and set timeouts themselves where they need one.
-- Timeouts set by the client (DATABASE_URL, PGOPTIONS) stay.
select set_config(setting.name, ours.value, false)
  from (values
            ('client_encoding', 'UTF8'),
            ('DateStyle', 'ISO, MDY'),
            ('IntervalStyle', 'postgres'),
            ('TimeZone', 'UTC'),
            ('standard_conforming_strings', 'on'),
            ('default_transaction_isolation', 'read committed'),
            ('default_transaction_read_only', 'off'),
            -- Table names are schema-qualified; the types of pgvector are not.
            ('search_path', coalesce(
                (select format('%s', extnamespace::regnamespace)
                   from pg_extension where extname = 'vector'), 'public')),
            ('statement_timeout', '0'),
            ('lock_timeout', '0'),
            ('transaction_timeout', '0'),
            ('idle_session_timeout', '0')) as ours (name, value)
  join pg_settings as setting on setting.name = ours.name
 where not (setting.name like '%timeout' and setting.source = 'client');
