-- How much applications use: totals, and the changes that are not yet added to them. Both are read
-- by one statement, so whoever reads during `fold` counts each change once.

-- name: of_application
select coalesce(total.sources, 0) + change.sources as sources,
       coalesce(total.stored_bytes, 0) + change.stored_bytes as stored_bytes,
       coalesce(total.staged_bytes, 0) + change.staged_bytes as staged_bytes,
       coalesce(total.pending_jobs, 0) + change.pending_jobs as pending_jobs,
       (select settings -> 'quotas' from app.applications where id = %(application_id)s) as quotas
  from (select coalesce(sum(sources), 0)::bigint as sources,
               coalesce(sum(stored_bytes), 0)::bigint as stored_bytes,
               coalesce(sum(staged_bytes), 0)::bigint as staged_bytes,
               coalesce(sum(pending_jobs), 0)::bigint as pending_jobs
          from rag.usage_changes where application_id = %(application_id)s) as change
  left join rag.usage_totals as total on total.application_id = %(application_id)s;

-- name: try_lock_totals
select pg_try_advisory_xact_lock(7245110391);

-- name: lock_totals
select pg_advisory_xact_lock(7245110391);

-- name: fold
-- Adds up to %(limit)s changes to the totals; returns how many. Changes of deleted applications are
-- dropped. The caller holds the lock of the totals.
with gone as (
    delete from rag.usage_changes
     where ctid = any(array(select ctid from rag.usage_changes limit %(limit)s))
    returning application_id, sources, stored_bytes, staged_bytes, pending_jobs
), added as (
    insert into rag.usage_totals as total
        (application_id, sources, stored_bytes, staged_bytes, pending_jobs)
    select application.id, sum(gone.sources), sum(gone.stored_bytes), sum(gone.staged_bytes),
           sum(gone.pending_jobs)
      from gone join app.applications as application on application.id = gone.application_id
     group by application.id
    on conflict (application_id) do update
       set sources = total.sources + excluded.sources,
           stored_bytes = total.stored_bytes + excluded.stored_bytes,
           staged_bytes = total.staged_bytes + excluded.staged_bytes,
           pending_jobs = total.pending_jobs + excluded.pending_jobs)
select count(*) from gone;

-- name: recount
-- Counts everything again, in case rows were changed by hand with triggers off; returns how many
-- totals were wrong. One statement: what it sees includes exactly the changes that it deletes.
with counted as (
    select application.id as application_id, coalesce(usage.sources, 0) as sources,
           coalesce(usage.stored_bytes, 0) as stored_bytes,
           coalesce(usage.staged_bytes, 0) as staged_bytes,
           coalesce(usage.pending_jobs, 0) as pending_jobs
      from app.applications as application
      left join rag.counted_usage as usage on usage.application_id = application.id
), gone as (
    delete from rag.usage_changes
    returning application_id, sources, stored_bytes, staged_bytes, pending_jobs
), pending as (
    select application_id, sum(sources) as sources, sum(stored_bytes) as stored_bytes,
           sum(staged_bytes) as staged_bytes, sum(pending_jobs) as pending_jobs
      from gone group by application_id
), written as (
    insert into rag.usage_totals
        (application_id, sources, stored_bytes, staged_bytes, pending_jobs)
    select application_id, sources, stored_bytes, staged_bytes, pending_jobs from counted
    on conflict (application_id) do update
       set sources = excluded.sources, stored_bytes = excluded.stored_bytes,
           staged_bytes = excluded.staged_bytes, pending_jobs = excluded.pending_jobs)
select count(*)
  from counted
  left join rag.usage_totals as total using (application_id)
  left join pending using (application_id)
 where (counted.sources, counted.stored_bytes, counted.staged_bytes, counted.pending_jobs)
       is distinct from
       (coalesce(total.sources, 0) + coalesce(pending.sources, 0),
        coalesce(total.stored_bytes, 0) + coalesce(pending.stored_bytes, 0),
        coalesce(total.staged_bytes, 0) + coalesce(pending.staged_bytes, 0),
        coalesce(total.pending_jobs, 0) + coalesce(pending.pending_jobs, 0));

-- name: installation
-- The totals of all applications, and of each the settings of its quotas if it has any.
select coalesce(sum(total.sources), 0)::bigint as sources,
       coalesce(sum(total.stored_bytes), 0)::bigint as stored_bytes,
       coalesce(sum(total.staged_bytes), 0)::bigint as staged_bytes,
       coalesce(sum(total.pending_jobs), 0)::bigint as pending_jobs,
       coalesce(max(total.sources::float8 / greatest(quota.sources, 1)), 0) as sources_share,
       coalesce(max(total.stored_bytes::float8 / greatest(quota.stored_bytes, 1)), 0)
         as stored_bytes_share,
       coalesce(max(total.staged_bytes::float8 / greatest(quota.staged_bytes, 1)), 0)
         as staged_bytes_share,
       coalesce(max(total.pending_jobs::float8 / greatest(quota.pending_jobs, 1)), 0)
         as pending_jobs_share
  from rag.usage_totals as total
  join app.applications as application on application.id = total.application_id
 cross join lateral (
    select coalesce(rag.quota(application.settings, 'sources'), %(sources)s) as sources,
           coalesce(rag.quota(application.settings, 'storedBytes'), %(stored_bytes)s)
             as stored_bytes,
           coalesce(rag.quota(application.settings, 'stagedBytes'), %(staged_bytes)s)
             as staged_bytes,
           coalesce(rag.quota(application.settings, 'pendingJobs'), %(pending_jobs)s)
             as pending_jobs) as quota;
