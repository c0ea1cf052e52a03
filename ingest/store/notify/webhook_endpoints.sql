-- Webhook endpoints.

-- name: lock_application
-- Concurrent requests must not exceed the limit.
select id from app.applications where id = %(application_id)s for no key update;

-- name: add
insert into rag.webhook_endpoints (id, application_id, url, description, events, secret)
select %(id)s, %(application_id)s, %(url)s, %(description)s, %(events)s, %(secret)s
 where (select count(*) from rag.webhook_endpoints
         where application_id = %(application_id)s) < %(most)s
returning id, application_id, url, description, events, is_enabled, disabled_reason, failing_since,
          failures, previous_secret_until, created_at, updated_at;

-- name: get
select id, application_id, url, description, events, is_enabled, disabled_reason, failing_since,
       failures, previous_secret_until, created_at, updated_at
  from rag.webhook_endpoints
 where application_id = %(application_id)s and id = %(id)s;

-- name: list
select id, application_id, url, description, events, is_enabled, disabled_reason, failing_since,
       failures, previous_secret_until, created_at, updated_at
  from rag.webhook_endpoints
 where application_id = %(application_id)s
   and (%(before_time)s::timestamptz is null
        or (created_at, id) < (%(before_time)s, %(before_id)s::uuid))
 order by created_at desc, id desc
 limit %(limit)s;

-- name: is_secret_in_use
select exists (
    select from rag.webhook_endpoints
     where application_id = %(application_id)s
       and (secret = %(secret)s
            or previous_secret = %(secret)s and previous_secret_until > now()));

-- name: edit
-- Enabling an endpoint or changing its URL resets its failures.
update rag.webhook_endpoints
   set url = coalesce(%(url)s, url),
       description = coalesce(%(description)s, description),
       events = coalesce(%(events)s, events),
       is_enabled = coalesce(%(is_enabled)s, is_enabled),
       disabled_reason = case when %(is_enabled)s then null
                              when not %(is_enabled)s and is_enabled then 'disabled by request'
                              else disabled_reason end,
       failing_since = case when %(resets_failures)s then null else failing_since end,
       failures = case when %(resets_failures)s then 0 else failures end,
       retry_at = case when %(resets_failures)s then null else retry_at end,
       updated_at = now()
 where application_id = %(application_id)s and id = %(id)s
returning id, application_id, url, description, events, is_enabled, disabled_reason, failing_since,
          failures, previous_secret_until, created_at, updated_at;

-- name: delete
delete from rag.webhook_endpoints where application_id = %(application_id)s and id = %(id)s;

-- name: rotate
-- Drops the previous secret at once: there are never more than two. Resets failures, since a
-- receiver that refused signatures may accept the new ones.
update rag.webhook_endpoints
   set previous_secret = secret, previous_secret_until = now() + %(overlap)s::interval,
       secret = %(secret)s, failing_since = null, failures = 0, retry_at = null,
       updated_at = now()
 where application_id = %(application_id)s and id = %(id)s
returning id, application_id, url, description, events, is_enabled, disabled_reason, failing_since,
          failures, previous_secret_until, created_at, updated_at;

-- name: allow_attempt
-- A user wants to know now whether the endpoint works.
update rag.webhook_endpoints set retry_at = now() where id = %(id)s and retry_at > now();

-- name: reserve_probe
-- While an endpoint fails, one delivery at a time may try it. If that attempt never reports back,
-- the next one may try after a minute.
update rag.webhook_endpoints
   set retry_at = now() + interval '1 minute'
 where id = %(id)s and failing_since is not null and retry_at <= now();

-- name: record_failure
-- Deliveries already in flight at the first failure do not extend the pause.
update rag.webhook_endpoints
   set failures = failures + 1,
       failing_since = coalesce(failing_since, now()),
       retry_at = case when %(is_probe)s or failing_since is null
                       then now() + %(pause)s::interval else retry_at end
 where id = %(id)s
returning failures, now() - failing_since as failing_for;

-- name: record_success
update rag.webhook_endpoints
   set failing_since = null, failures = 0, retry_at = null
 where id = %(id)s and failing_since is not null;

-- name: disable
update rag.webhook_endpoints
   set is_enabled = false, disabled_reason = %(reason)s, updated_at = now()
 where id = %(id)s and is_enabled;
