-- name: add
insert into rag.lanes (lane) values (%(lane)s) on conflict (lane) do nothing;

-- name: lock
-- Limits come from the first entry found: for the full lane name, without the endpoint, without
-- endpoint and key. `now` is clock_timestamp(), since the transaction may have waited for the lock.
-- The same names are those of pauses (provider_pauses.sql).
-- synchronous_commit is off: a crash may lose the last half second of changes.
select lane.requests, lane.tokens, lane.refilled_at, lane.paused_until, lane.pause_reason,
       lane.failures, lane.failing_since, lane.error_code, lane.error_status, lane.error_message,
       clock_timestamp() as now,
       coalesce(config.value -> lane.lane, config.value -> split_part(lane.lane, '@', 1),
                config.value -> split_part(lane.lane, '#', 1)) as limits,
       coalesce(pauses.value ?| array[lane.lane, split_part(lane.lane, '@', 1),
                                      split_part(lane.lane, '#', 1)], false) as is_stopped
  from rag.lanes as lane
  left join rag.worker_config as config on config.key = 'limits'
  left join rag.worker_config as pauses on pauses.key = 'pauses'
 where lane.lane = %(lane)s and set_config('synchronous_commit', 'off', true) = 'off'
   for no key update of lane;

-- name: save
update rag.lanes
   set requests = %(requests)s, tokens = %(tokens)s, refilled_at = %(refilled_at)s,
       paused_until = %(paused_until)s, pause_reason = %(pause_reason)s, failures = %(failures)s,
       failing_since = %(failing_since)s, error_code = %(error_code)s,
       error_status = %(error_status)s, error_message = %(error_message)s
 where lane = %(lane)s;

-- name: succeed
-- Ends a `probe` pause, but no pause that the provider asked for. While the lane is paused because
-- the provider fails, ignores successes of requests sent before the failure.
with before as materialized (
    select lane, failing_since from rag.lanes
     where lane = %(lane)s and failures > 0
       and (pause_reason is distinct from 'provider_unavailable'
            or paused_until <= clock_timestamp())
       for no key update)
update rag.lanes as lane
   set failures = 0, failing_since = null, error_code = null, error_status = null,
       error_message = null,
       paused_until = case when lane.pause_reason = 'probe' then null else lane.paused_until end,
       pause_reason = case when lane.pause_reason = 'probe' then null else lane.pause_reason end
  from before
 where lane.lane = before.lane
returning before.failing_since is not null as was_failing;

-- name: state
select coalesce(paused_until > clock_timestamp(), false) as is_paused,
       greatest(paused_until - clock_timestamp(), '0') as delay, pause_reason as reason, failures,
       failing_since, error_code, error_status, error_message
  from rag.lanes
 where lane = %(lane)s;

-- name: all
-- Those of providers, whether or not they are paused.
select lane from rag.lanes where lane not like 'type:%%' order by lane limit %(limit)s;

-- name: end_pauses
-- Skips the lanes of job types, which have no provider. A failing provider keeps as many failures
-- as the threshold, so that a single request probes it first.
update rag.lanes
   set paused_until = null, pause_reason = null,
       failures = case when pause_reason = 'provider_unavailable' then %(failures)s
                       else least(failures, %(failures)s) end
 where lane not like 'type:%%' and paused_until > clock_timestamp() and pause_reason <> 'probe'
   and (%(lane)s::text is null or lane = %(lane)s)
   and (%(reason)s::text is null or pause_reason = %(reason)s)
returning lane;

-- name: release
-- Makes jobs that wait for a provider ready. Skips locked rows.
with waiting as materialized (
    select id from rag.processing_jobs
     where status = 'pending' and run_at is not null
       and ((last_error_code = any(%(codes)s)
             and wait_reason in ('provider_unavailable', 'rate_limited', 'retry'))
            or wait_reason = any(%(reasons)s))
     order by id
     limit %(limit)s
       for update skip locked)
update rag.processing_jobs as job
   set run_at = null, wait_reason = null
  from waiting
 where job.id = waiting.id;
