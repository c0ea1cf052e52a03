-- Claiming jobs.

-- name: claimable_types
-- Nothing is claimed while the global pause is on. A ready job may be locked by another claim.
select type, is_limited,
       is_limited and exists (select from rag.ready_jobs as job where job.type = job_type.type)
         as is_limited_and_ready
  from rag.job_types as job_type
 cross join lateral (
    select max_concurrent is not null or rate_per_minute is not null as is_limited) as limits
 where is_enabled and not is_paused and handler = any(%(handlers)s)
   and not exists (select 1 from rag.worker_config where key = 'paused' and value = 'true')
 order by type;

-- name: weights
-- Applications with a configured weight.
select id, least(greatest((settings ->> 'weight')::integer, 1), 100)
  from app.applications
 where jsonb_typeof(settings -> 'weight') = 'number' and (settings ->> 'weight') ~ '^[0-9]{1,9}$';

-- name: lock_lanes
-- Serializes claims of a limited type across all workers. Counts that the claim reads afterwards,
-- in separate statements, stay valid until it commits.
select lane from rag.lanes where lane = any(%(lanes)s) order by lane for no key update;

-- name: add_lanes
insert into rag.lanes (lane) select unnest(%(lanes)s::text[]) order by 1 on conflict do nothing;

-- name: allowances
-- How many jobs of each type may start now and, if none, when the next one may.
select job_type.type,
       least(limits.free_slots, floor(limits.tokens + 1e-6))::integer as allowance,
       case when limits.tokens < 1 then (1 - limits.tokens) / limits.per_second end as wait_seconds
  from rag.job_types as job_type
  join rag.job_type_limits as limits on limits.type = job_type.type
 where job_type.type = any(%(types)s)
   and (job_type.max_concurrent is not null or job_type.rate_per_minute is not null);

-- name: charge_rate_limits
-- Subtracts started jobs from the token buckets of types with a rate limit.
update rag.lanes as lane
   set requests = limits.tokens - started.count,
       refilled_at = greatest(lane.refilled_at, clock_timestamp())
  from unnest(%(types)s::text[], %(counts)s::integer[]) as started(type, count)
  join rag.job_type_limits as limits on limits.type = started.type
 where lane.lane = 'type:' || started.type and limits.tokens is not null;

-- name: set_planner
-- Planning a claim takes longer than running it, and one plan fits all values: the index of ready
-- jobs, then the primary key. A sequential scan planned while the table is small must not be kept.
-- Only until the transaction ends: a pooler may give the session to another client then.
select set_config('plan_cache_mode', 'force_generic_plan', true),
       set_config('enable_seqscan', 'off', true);

-- name: begin
-- The options of set_planner and, in the same round trip, the lock of config_lock.sql: it blocks
-- changes of pauses, job types and limits until the claim commits.
select set_config('plan_cache_mode', 'force_generic_plan', true),
       set_config('enable_seqscan', 'off', true),
       pg_advisory_xact_lock_shared(7245110386);

-- name: claim
-- Fair between applications; cost does not grow with the backlog. `band`: types with foreground
-- jobs; if there are none, types with background jobs (priority below 0). `tenant`: the next
-- applications after this worker's cursor with jobs in the band, found by a skip scan of the ready
-- index. If too few follow the cursor, the scan wraps around to the first application.
-- Each application gets a share by weight of the batch and of the slots that it and the others hold
-- (`held`; with `most_held`, only those that hold fewer get any); within it, priority decides, then
-- age.
-- A type gets at most its allowance (null: no limit).
-- The picks are materialized: a plan that re-ran them would claim too many jobs.
with recursive lane as materialized (
    select claimable.type, claimable.allowance, top.is_background
      from unnest(%(types)s::text[], %(allowances)s::integer[]) as claimable(type, allowance)
     cross join lateral (
        select job.is_background from rag.ready_jobs as job
         where job.type = claimable.type
         order by job.is_background limit 1) as top
), band as materialized (
    select type, allowance, is_background from lane
     where is_background = (select bool_and(is_background) from lane)
), after_cursor as (
    select band.type, band.is_background, next.application_id, 1 as n
      from band
     cross join lateral rag.next_ready_application(
        band.type, band.is_background, after => %(cursor)s) as next
    union all
    select seen.type, seen.is_background, next.application_id, seen.n + 1
      from after_cursor as seen
     cross join lateral rag.next_ready_application(
        seen.type, seen.is_background, after => seen.application_id) as next
     where seen.n < %(candidates)s
), from_start as (
    select band.type, band.is_background, next.application_id, 1 as n
      from band
     cross join lateral rag.next_ready_application(
        band.type, band.is_background, after => '00000000-0000-0000-0000-000000000000') as next
     where next.application_id <= %(cursor)s
       and (select count(distinct application_id) from after_cursor) < %(candidates)s
    union all
    select seen.type, seen.is_background, next.application_id, seen.n + 1
      from from_start as seen
     cross join lateral rag.next_ready_application(
        seen.type, seen.is_background, after => seen.application_id) as next
     where next.application_id <= %(cursor)s and seen.n < %(candidates)s
), backlog as materialized (
    select type, is_background, application_id, 0 as lap from after_cursor
    union all
    select type, is_background, application_id, 1 as lap from from_start
), tenant as materialized (
    select next.application_id, next.lap, coalesce(heavier.weight, 1) as weight,
           coalesce(holder.slots, 0) as held
      from (select application_id, min(lap) as lap from backlog group by application_id) as next
      left join unnest(%(weight_ids)s::uuid[], %(weights)s::integer[]) as heavier(id, weight)
        on heavier.id = next.application_id
      left join unnest(%(held_ids)s::uuid[], %(held)s::float8[]) as holder(id, slots)
        on holder.id = next.application_id
     where coalesce(holder.slots, 0) < coalesce(%(most_held)s, 'infinity'::float8)
     order by coalesce(holder.slots, 0) / coalesce(heavier.weight, 1), next.lap,
              next.application_id
     limit %(batch)s
), pick as materialized (
    select job.id, job.priority, job.position, backlog.type, tenant.application_id, tenant.lap,
           tenant.weight, tenant.held, share.size as share
      from tenant
     cross join lateral (
        select least(%(batch)s, greatest(1, ceil(
                  (%(batch)s + total.held) * tenant.weight / total.weight - tenant.held)))::integer
                 as size
          from (select sum(weight) as weight, sum(held) as held from tenant) as total) as share
      join backlog on backlog.application_id = tenant.application_id
     cross join lateral (
        select job.id, job.priority, job.position from rag.ready_jobs as job
         where job.type = backlog.type and job.is_background = backlog.is_background
           and job.application_id = tenant.application_id
         order by job.priority desc, job.position
         limit least(share.size, (select allowance from band where band.type = backlog.type))
         for update skip locked) as job
), ranked as (
    select pick.*,
           row_number() over (partition by application_id order by priority desc, position) as n
      from pick
), allowed as (
    select ranked.*,
           row_number() over (partition by type order by held + n, lap, application_id) as of_type
      from ranked
     where n <= share
), due as materialized (
    select allowed.id
      from allowed
      join band on band.type = allowed.type
     where band.allowance is null or allowed.of_type <= band.allowance
     order by (allowed.held + allowed.n) / allowed.weight, allowed.lap, allowed.application_id
     limit %(batch)s
)
update rag.processing_jobs as job
   set status = 'processing', attempts = job.attempts + 1, fence = job.fence + 1,
       locked_by = %(worker)s, locked_at = now(), started_at = now(),
       stage = null, progress = 0, wait_reason = null
 where job.id = any(array(select due.id from due))
returning job.id, job.application_id, job.knowledge_source_id, job.batch_id, job.parent_job_id,
          job.type, job.payload::text, job.priority, job.attempts, job.max_attempts, job.fence,
          job.position, job.traceparent;

-- name: claim_oldest
-- One job by age alone, so that neither low priority nor fairness between applications starves it.
with pick as materialized (
    select oldest.id, oldest.position
      from unnest(%(types)s::text[]) as claimable(type)
     cross join lateral (
        select job.id, job.position from rag.ready_jobs as job
         where job.type = claimable.type
         order by job.position limit 1
         for update skip locked) as oldest
), due as materialized (
    select id from pick order by position limit 1
)
update rag.processing_jobs as job
   set status = 'processing', attempts = job.attempts + 1, fence = job.fence + 1,
       locked_by = %(worker)s, locked_at = now(), started_at = now(),
       stage = null, progress = 0, wait_reason = null
 where job.id = any(array(select due.id from due))
returning job.id, job.application_id, job.knowledge_source_id, job.batch_id, job.parent_job_id,
          job.type, job.payload::text, job.priority, job.attempts, job.max_attempts, job.fence,
          job.position, job.traceparent;

-- name: promote
-- Moves due jobs into the ready index; skips jobs that another process is promoting.
with due as materialized (
    select id from rag.processing_jobs
     where status = 'pending' and run_at <= now()
     order by run_at limit 1000
       for update skip locked)
update rag.processing_jobs as job
   set run_at = null, wait_reason = null
  from due
 where job.id = due.id;

-- name: next_due
select extract(epoch from min(run_at) - now())::float8 as seconds
  from rag.processing_jobs
 where status = 'pending' and run_at is not null;

-- name: ready_types
select claimable.type
  from unnest(%(types)s::text[]) as claimable(type)
 where exists (select from rag.ready_jobs as job where job.type = claimable.type);
