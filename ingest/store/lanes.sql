-- name: add
insert into rag.lanes (lane) values (%(lane)s) on conflict (lane) do nothing;

-- name: lock
-- A limit of the lane itself goes before one of its provider and model, whatever the key. The time
-- is that of the clock, not of the transaction, which may have waited for the lock; and nothing here
-- is worth waiting for a disk: a crash may forget what the last half second took.
select lane.requests, lane.tokens, lane.refilled_at, lane.paused_until, lane.pause_reason,
       lane.failures, clock_timestamp() as now,
       coalesce(config.value -> lane.lane, config.value -> split_part(lane.lane, '#', 1)) as limits
  from rag.lanes as lane
  left join rag.worker_config as config on config.key = 'limits'
 where lane.lane = %(lane)s and set_config('synchronous_commit', 'off', true) = 'off'
   for no key update of lane;

-- name: save
update rag.lanes
   set requests = %(requests)s, tokens = %(tokens)s, refilled_at = %(refilled_at)s,
       paused_until = %(paused_until)s, pause_reason = %(pause_reason)s, failures = %(failures)s
 where lane = %(lane)s;

-- name: succeed
-- The pause that lets one request probe a provider is over; one that was asked for is not.
update rag.lanes
   set failures = 0,
       paused_until = case when pause_reason = 'probe' then null else paused_until end,
       pause_reason = case when pause_reason = 'probe' then null else pause_reason end
 where lane = %(lane)s and failures > 0;

-- name: pause
select paused_until - clock_timestamp() as delay, pause_reason as reason
  from rag.lanes
 where lane = %(lane)s and paused_until > clock_timestamp();
