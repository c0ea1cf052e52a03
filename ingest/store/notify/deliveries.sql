-- Webhook deliveries: one row per endpoint and event, with a job that delivers it.

-- name: add
insert into rag.webhook_deliveries
    (id, endpoint_id, application_id, event, dedupe_key, body, job_id)
select new.id, new.endpoint_id, new.application_id, new.event, new.dedupe_key, new.body, new.job_id
  from unnest(%(ids)s::uuid[], %(endpoint_ids)s::uuid[], %(application_ids)s::uuid[],
              %(events)s::text[], %(dedupe_keys)s::text[], %(bodies)s::text[], %(job_ids)s::uuid[])
       as new(id, endpoint_id, application_id, event, dedupe_key, body, job_id)
on conflict (endpoint_id, dedupe_key) do nothing
returning id, job_id, application_id;

-- name: get_due
select delivery.id, delivery.application_id, delivery.event, delivery.body, delivery.status,
       endpoint.id as endpoint_id, endpoint.url, endpoint.secret,
       case when endpoint.previous_secret_until > now() then endpoint.previous_secret end
           as previous_secret,
       endpoint.is_enabled, now() - endpoint.failing_since as failing_for,
       endpoint.retry_at - now() as wait, now() as at
  from rag.webhook_deliveries as delivery
  join rag.webhook_endpoints as endpoint on endpoint.id = delivery.endpoint_id
 where delivery.id = %(id)s;

-- name: record_attempt
update rag.webhook_deliveries
   set status = 'pending', attempts = attempts + 1, last_attempt_at = now()
 where id = %(id)s;

-- name: record_success
update rag.webhook_deliveries
   set status = 'delivered', delivered_at = now(), last_status = %(last_status)s, last_error = null,
       last_headers = %(headers)s, last_answer = %(answer)s
 where id = %(id)s;

-- name: record_failure
update rag.webhook_deliveries
   set last_status = %(last_status)s, last_error = %(last_error)s, last_headers = %(headers)s,
       last_answer = %(answer)s
 where id = %(id)s;

-- name: fail_pending
-- The jobs of these deliveries ended without success.
update rag.webhook_deliveries
   set status = 'failed', last_error = coalesce(last_error, 'it was never sent')
 where job_id = any(%(job_ids)s) and status = 'pending';

-- name: pending_jobs
select job_id from rag.webhook_deliveries
 where endpoint_id = %(endpoint_id)s and application_id = %(application_id)s
   and status = 'pending' and job_id is distinct from %(but)s;

-- name: release
-- Releases waiting deliveries, oldest first: ten at once, then twenty a second, so that a receiver
-- that has just recovered is not flooded. Skips locked jobs, since the caller may hold locks on
-- other jobs and must not wait; `endpoints_with_missed` finds them.
with waiting as materialized (
    select job.id, delivery.position
      from rag.webhook_deliveries as delivery
      join rag.processing_jobs as job on job.id = delivery.job_id
     where delivery.endpoint_id = %(endpoint_id)s and delivery.status = 'pending'
       and job.status = 'pending' and job.run_at is not null
       and (not %(if_failing)s
            or exists (select from rag.webhook_endpoints
                        where id = %(endpoint_id)s and failing_since is not null))
     order by job.id
       for update of job skip locked
), turn as (
    select id, row_number() over (order by position) - 10 as late from waiting
)
update rag.processing_jobs as job
   set run_at = case when turn.late > 0 then now() + turn.late * interval '50 milliseconds' end,
       wait_reason = null
  from turn
 where job.id = turn.id;

-- name: release_one
update rag.processing_jobs as job
   set run_at = null, wait_reason = null
  from rag.webhook_deliveries as delivery
 where delivery.id = %(id)s and delivery.endpoint_id = %(endpoint_id)s
   and job.id = delivery.job_id and job.status = 'pending' and job.run_at is not null;

-- name: endpoints_with_missed
-- Working endpoints with waiting deliveries, whose jobs were locked when the endpoint recovered.
select distinct delivery.endpoint_id
  from rag.webhook_deliveries as delivery
  join rag.webhook_endpoints as endpoint
    on endpoint.id = delivery.endpoint_id and endpoint.is_enabled and endpoint.failing_since is null
  join rag.processing_jobs as job on job.id = delivery.job_id
 where delivery.status = 'pending' and job.status = 'pending' and job.run_at > now()
   and job.wait_reason is not null;

-- name: list
select id, endpoint_id, position, event, body, status, job_id, attempts, last_status, last_error,
       last_attempt_at, delivered_at, created_at
  from rag.webhook_deliveries
 where endpoint_id = %(endpoint_id)s
   and (%(status)s::text is null or status = %(status)s)
   and (%(before)s::bigint is null or position < %(before)s)
 order by position desc
 limit %(limit)s;

-- name: get
select id, endpoint_id, position, event, body, status, job_id, attempts, last_status, last_error,
       last_attempt_at, delivered_at, created_at, last_headers as headers, last_answer as answer
  from rag.webhook_deliveries
 where endpoint_id = %(endpoint_id)s and id = %(id)s;

-- name: replay
-- Sends the same message again, unless a job still has to send it.
update rag.webhook_deliveries
   set status = 'pending', job_id = %(job_id)s
 where endpoint_id = %(endpoint_id)s and id = %(id)s and status <> 'pending'
returning id, endpoint_id, position, event, body, status, job_id, attempts, last_status, last_error,
          last_attempt_at, delivered_at, created_at;
