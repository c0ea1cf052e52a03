-- A stored budget that is not a valid number counts as no budget, as in applications.py.

-- name: reserve
-- Checks and counts in one statement, so that two workers never spend the same tokens. Counts
-- without a budget too, in case one is set later. The commit does not wait for the disk: a crash
-- may lose the last half second of changes.
insert into rag.token_usage as usage (application_id, day, tokens)
select application.id, (now() at time zone 'utc')::date, %(tokens)s
  from app.applications as application
 where application.id = %(application_id)s
   and set_config('synchronous_commit', 'off', true) = 'off'
   and coalesce(%(tokens)s <= (jsonb_path_query_first(application.settings,
                '$.tokensPerDay ? (@.type() == "number" && @ >= 1 && @ <= 1000000000000000000)')::bigint), true)
on conflict (application_id, day) do update
   set tokens = usage.tokens + excluded.tokens
 where coalesce(usage.tokens + excluded.tokens <= (
            select (jsonb_path_query_first(application.settings,
                '$.tokensPerDay ? (@.type() == "number" && @ >= 1 && @ <= 1000000000000000000)')::bigint)
              from app.applications as application
             where application.id = %(application_id)s), true)
returning day;

-- name: give_back
update rag.token_usage
   set tokens = greatest(0, tokens - %(tokens)s)
 where application_id = %(application_id)s and day = %(day)s
   and set_config('synchronous_commit', 'off', true) = 'off';

-- name: state
select (jsonb_path_query_first(application.settings,
                '$.tokensPerDay ? (@.type() == "number" && @ >= 1 && @ <= 1000000000000000000)')::bigint) as per_day,
       coalesce(usage.tokens, 0) as used,
       (select coalesce(sum(month.tokens), 0)::bigint from rag.token_usage as month
         where month.application_id = application.id
           and month.day >= date_trunc('month', now() at time zone 'utc')::date) as used_this_month,
       day.ends_at as renews_at, day.ends_at - now() as renews_in
  from (select ((now() at time zone 'utc')::date + 1)::timestamp at time zone 'utc' as ends_at) as day
 cross join app.applications as application
  left join rag.token_usage as usage
    on usage.application_id = application.id and usage.day = (now() at time zone 'utc')::date
 where application.id = %(application_id)s;

-- name: resume_waiting
-- Skips locked rows.
with waiting as materialized (
    select id from rag.processing_jobs
     where application_id = %(application_id)s and status = 'pending'
       and wait_reason = 'budget_exceeded'
     order by id
       for update skip locked)
update rag.processing_jobs as job
   set run_at = null, wait_reason = null
  from waiting
 where job.id = waiting.id;

-- name: forget_old
delete from rag.token_usage where day < (now() at time zone 'utc')::date - 400;
