-- Processor time per application and day. For information, so a crash may lose the last seconds.

-- name: charge
-- In the order of ids; applications that were deleted meanwhile are left out.
insert into rag.token_usage as usage (application_id, day, cpu_seconds)
select application.id, (now() at time zone 'utc')::date, spent.seconds
  from unnest(%(ids)s::uuid[], %(seconds)s::float8[]) as spent(id, seconds)
  join app.applications as application on application.id = spent.id
 where set_config('synchronous_commit', 'off', true) = 'off'
 order by application.id
on conflict (application_id, day) do update
   set cpu_seconds = usage.cpu_seconds + excluded.cpu_seconds;

-- name: today
select coalesce(sum(cpu_seconds), 0)::float8
  from rag.token_usage
 where application_id = %(application_id)s and day = (now() at time zone 'utc')::date;
