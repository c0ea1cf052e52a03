-- Lists and counts of knowledge sources. Never prepared: the best index depends on the values.
-- `oldest_key` and `oldest_id`: how far the statement may read; null: to the end. `key`: what the order
-- is by.

-- name: page
select view.*
  from (select source.id, {key} as key
          from rag.matching_sources(
                  %(application_id)s, %(status)s, %(type)s, %(batch_id)s, %(uri)s,
                  %(collection_id)s, %(error_code)s, %(since)s, %(updated_since)s) as source
         where (%(before_id)s::uuid is null
                or ({key}, source.id) < (%(before_key)s, %(before_id)s))
           and (%(oldest_id)s::uuid is null
                or ({key}, source.id) >= (%(oldest_key)s, %(oldest_id)s))
           and rag.source_contains(
                  source.name, source.uri, source.metadata, %(pattern)s, %(metadata)s)
         order by {key} desc, source.id desc
         limit %(limit)s) as page
  join rag.source_views as view on view.id = page.id
 order by page.key desc, page.id desc;

-- name: scan_end
-- The last of the sources that one request reads; no row: all of them.
select {key}, source.id
  from rag.matching_sources(
          %(application_id)s, %(status)s, %(type)s, %(batch_id)s, %(uri)s,
          %(collection_id)s, %(error_code)s, %(since)s, %(updated_since)s) as source
 where %(before_id)s::uuid is null
    or ({key}, source.id) < (%(before_key)s, %(before_id)s)
 order by {key} desc, source.id desc
offset %(scan)s - 1
 limit 1;

-- name: counts
-- Of each state, the newest `scan` sources are read. The condition on the state is here, so that
-- the planner uses its index.
select state.status, counted.matching, counted.scanned
  from unnest(%(statuses)s::text[]) as state(status)
 cross join lateral (
    select count(*) filter (where newest.contains) as matching, count(*) as scanned
      from (select rag.source_contains(source.name, source.uri, source.metadata, %(pattern)s,
                                       %(metadata)s) as contains
              from rag.matching_sources(
                      %(application_id)s, null, %(type)s, %(batch_id)s, %(uri)s,
                      %(collection_id)s, %(error_code)s, %(since)s, %(updated_since)s) as source
             where source.status = state.status
             order by source.created_at desc, source.id desc
             limit %(scan)s) as newest) as counted;

-- name: children
-- Jobs of the current run below its root: files in a file, pages of a site.
select state.status, counted.jobs
  from unnest(%(statuses)s::text[]) as state(status)
 cross join lateral (
    select count(*) as jobs
      from (select from rag.knowledge_sources as source
              join rag.processing_jobs as job on job.parent_job_id = source.current_job_id
             where source.application_id = %(application_id)s and source.id = %(id)s
               and source.deleted_at is null and job.status = state.status
             limit %(limit)s) as first) as counted;
