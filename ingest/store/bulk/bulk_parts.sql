-- The rows of `bulk` jobs, in parts. Statements with a filter are never prepared, as those of lists.

-- name: add_sources
-- Everything that matches now, newest first, up to `most`; a row per part.
with chosen as (
    select source.id, (row_number() over (order by source.created_at desc, source.id desc) - 1)
                      / %(part_size)s as part
      from rag.matching_sources(
              %(application_id)s, %(status)s, %(type)s, %(batch_id)s, %(uri)s,
              %(collection_id)s, %(error_code)s, %(since)s, %(updated_since)s) as source
     where (%(ids)s::uuid[] is null or source.id = any(%(ids)s))
       and rag.source_contains(
              source.name, source.uri, source.metadata, %(pattern)s, %(metadata)s)
     order by source.created_at desc, source.id desc
     limit %(most)s
), added as (
    insert into rag.bulk_parts (job_id, part, application_id, row_count, ids)
    select %(job_id)s, part, %(application_id)s, count(*), array_agg(id order by id)
      from chosen
     group by part
    returning row_count)
select coalesce(sum(row_count), 0)::integer from added;

-- name: add_jobs
-- Jobs that do the work of bulk actions are left out.
with chosen as (
    select job.id, (row_number() over (order by job.position desc) - 1) / %(part_size)s as part
      from rag.filtered_jobs(
              %(application_id)s, %(ids)s, %(status)s, %(type)s, %(source_id)s, %(batch_id)s,
              %(parent_id)s, %(error_code)s, %(since)s, %(pattern)s, %(metadata)s,
              %(collection_id)s) as job
     where job.type <> 'bulk'
     order by job.position desc
     limit %(most)s
), added as (
    insert into rag.bulk_parts (job_id, part, application_id, row_count, ids)
    select %(job_id)s, part, %(application_id)s, count(*), array_agg(id order by id)
      from chosen
     group by part
    returning row_count)
select coalesce(sum(row_count), 0)::integer from added;

-- name: hold_next
-- The next part. A worker that lost the job may still be at it: its commit is waited for.
select part, ids
  from rag.bulk_parts
 where application_id = %(application_id)s and job_id = %(job_id)s and changed is null
 order by part
 limit 1
   for no key update;

-- name: is_held
-- Read after the application's lock, under which users cancel jobs.
select exists (
    select from rag.processing_jobs
     where id = %(job_id)s and fence = %(fence)s and status = 'processing');

-- name: close
update rag.bulk_parts
   set ids = '{}', changed = %(changed)s, skipped = %(skipped)s
 where application_id = %(application_id)s and job_id = %(job_id)s and part = %(part)s;

-- name: totals
-- At most a thousand parts of a thousand rows, or ten times as many smaller ones.
select coalesce(sum(row_count), 0)::integer as rows,
       coalesce(sum(row_count) filter (where changed is not null), 0)::integer as done,
       coalesce(sum(changed), 0)::integer as changed,
       (select coalesce(jsonb_object_agg(reason.key, reason.rows), '{}')
          from (select each.key, sum(each.value::integer)::integer as rows
                  from rag.bulk_parts as part, jsonb_each_text(part.skipped) as each
                 where part.application_id = %(application_id)s and part.job_id = %(job_id)s
                 group by each.key) as reason) as skipped
  from rag.bulk_parts
 where application_id = %(application_id)s and job_id = %(job_id)s;
