-- Ended attempts per minute or hour (rag.activity). For information, so a crash of the database may
-- lose the last seconds.

-- name: minute
select date_trunc('minute', clock_timestamp(), 'UTC') as minute;

-- name: store
-- Amounts are totals, not additions: to store them twice changes nothing. Only their worker writes
-- these rows. Those of an application that was deleted meanwhile are left out.
insert into rag.activity (application_id, minute, worker_id, type, outcome, n, tokens, bytes)
select application.id, total.minute, %(worker_id)s, total.type, total.outcome,
       total.n, total.tokens, total.bytes
  from unnest(%(application_ids)s::uuid[], %(minutes)s::timestamptz[], %(types)s::text[],
              %(outcomes)s::text[], %(ns)s::bigint[], %(tokens)s::bigint[], %(bytes)s::bigint[])
       as total(application_id, minute, type, outcome, n, tokens, bytes)
  join app.applications as application on application.id = total.application_id
 where set_config('synchronous_commit', 'off', true) = 'off'
 order by application.id, total.minute, total.type, total.outcome
on conflict (application_id, minute, worker_id, type, outcome) do update
   set n = excluded.n, tokens = excluded.tokens, bytes = excluded.bytes;

-- name: read
-- Sums per step, which begin at multiples of its length since 1970. A row counts for the step in
-- which its minute or hour begins. `%(files)s` and `%(pages)s`: types of jobs.
select date_bin(%(step)s, minute, timestamptz '1970-01-01 00:00+00') as start, outcome,
       sum(n)::bigint as jobs,
       coalesce(sum(n) filter (where type = any(%(files)s)), 0)::bigint as files,
       coalesce(sum(n) filter (where type = any(%(pages)s)), 0)::bigint as pages,
       sum(tokens)::bigint as tokens, sum(bytes)::bigint as bytes
  from rag.activity
 where application_id = %(application_id)s
   and minute >= %(start)s::timestamptz and minute < %(end)s::timestamptz
 group by 1, 2
 order by 1, 2;

-- name: merge
-- Adds up to %(limit)s old minutes of workers to the hours of all workers; returns how many.
with gone as (
    delete from rag.activity
     where ctid = any(array(
        select ctid from rag.activity
         where not (worker_id = '00000000-0000-0000-0000-000000000000')
           and minute < now() - %(older_than)s::interval
         order by minute
         limit %(limit)s
           for update skip locked))
    returning application_id, minute, type, outcome, n, tokens, bytes
), added as (
    insert into rag.activity as hour
        (application_id, minute, worker_id, type, outcome, n, tokens, bytes)
    select application_id, date_trunc('hour', minute, 'UTC'),
           '00000000-0000-0000-0000-000000000000', type, outcome, sum(n), sum(tokens), sum(bytes)
      from gone
     group by application_id, date_trunc('hour', minute, 'UTC'), type, outcome
     order by 1, 2, 4, 5
    on conflict (application_id, minute, worker_id, type, outcome) do update
       set n = hour.n + excluded.n, tokens = hour.tokens + excluded.tokens,
           bytes = hour.bytes + excluded.bytes)
select count(*) from gone;

-- name: forget
-- Up to %(limit)s hours.
delete from rag.activity
 where ctid = any(array(
    select ctid from rag.activity
     where (worker_id = '00000000-0000-0000-0000-000000000000')
       and minute < now() - %(older_than)s::interval
     order by minute
     limit %(limit)s
       for update skip locked));
