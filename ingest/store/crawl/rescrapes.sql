-- Schedule of rescrapes. The next time is written under the application's lock; for sources without
-- a schedule, the nightly tick sets it.

-- name: source
select source.id, source.type, now() as now
  from rag.knowledge_sources as source
 where source.application_id = %(application_id)s and source.id = %(id)s
   and source.deleted_at is null;

-- name: set_schedule
update rag.knowledge_sources
   set rescrape_cron = %(cron)s, rescrape_timezone = %(timezone)s,
       next_rescrape_at = %(next_rescrape_at)s, updated_at = now()
 where id = %(id)s;

-- name: nightly
-- Sources without a next time and without an open run. They have no schedule: one that has a
-- schedule always has a next time.
select source.id
  from rag.knowledge_sources as source
 where source.type in ('url', 'site') and source.deleted_at is null
   and source.next_rescrape_at is null
   and (%(after)s::uuid is null or source.id > %(after)s)
   and not exists (
        select 1 from rag.processing_jobs as job
         where job.id = source.current_job_id and job.status in ('pending', 'processing'))
 order by source.id
 limit %(limit)s
   for no key update of source;

-- name: make_due
update rag.knowledge_sources as source
   set next_rescrape_at = now() + due.delay
  from unnest(%(ids)s::uuid[], %(delays)s::interval[]) as due(id, delay)
 where source.id = due.id;

-- name: due
select id, application_id
  from rag.knowledge_sources
 where next_rescrape_at <= now() and deleted_at is null
 order by next_rescrape_at, id
 limit %(limit)s;

-- name: still_due
-- Checked again under the application's lock: another replica may have started it already.
select rescrape_cron as cron, rescrape_timezone as timezone, now() as now
  from rag.knowledge_sources
 where application_id = %(application_id)s and id = %(id)s and deleted_at is null
   and next_rescrape_at <= now();

-- name: set_next
update rag.knowledge_sources set next_rescrape_at = %(next_rescrape_at)s where id = %(id)s;
