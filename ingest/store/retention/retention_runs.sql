-- Old crawl runs and their pages. A later run looks up how its failed pages, and those skipped with a
-- code of `hiding`, ended in earlier runs (crawl_pages.sql `count_unseen_behind_failures`), so the rows that decide this must stay:
--   * the first, last complete, latest and current run, with all their pages;
--   * for addresses that failed so in the first or a complete run: the newest page of each outcome
--     that matters there, that is whether it failed so, whether a provider's fetch failed, and whether
--     this was in the first or a complete run. For other addresses the remaining rows suffice.
-- A run stays as long as it has pages.

-- name: old
-- In order of their end. An open run, even a restarted one, has no end.
select old.id, old.ended_at, old.stays
  from (select crawl.id, crawl.ended_at,
               crawl.id in (first.id, latest.id)
               or crawl.id is not distinct from complete.id
               or crawl.job_id is not distinct from source.current_job_id as stays
          from (select * from rag.crawls as ended
                 where ended.ended_at < now() - %(older_than)s::interval
                   and (%(after_id)s::uuid is null
                        or (ended.ended_at, ended.id)
                         > (%(after_time)s::timestamptz, %(after_id)s::uuid))
                 order by ended.ended_at, ended.id
                 limit %(limit)s) as crawl
         cross join lateral (
            select other.id from rag.crawls as other where other.source_id = crawl.source_id
             order by other.created_at, other.id limit 1) as first
         cross join lateral (
            select other.id from rag.crawls as other where other.source_id = crawl.source_id
             order by other.created_at desc, other.id desc limit 1) as latest
          left join lateral (
            select other.id from rag.crawls as other
             where other.source_id = crawl.source_id and other.is_complete
             order by other.created_at desc, other.id desc limit 1) as complete on true
         cross join lateral (
            select owner.current_job_id from rag.knowledge_sources as owner
             where owner.id = crawl.source_id limit 1) as source) as old
 order by old.ended_at, old.id;

-- name: forget_pages
-- Deletes pages of one run that nothing needs, and pages with the same outcome as a page of the
-- first or a later run, which makes them redundant.
with run as materialized (
    select crawl.id, crawl.source_id, crawl.created_at, coalesce(crawl.is_complete, false) as is_complete
      from rag.crawls as crawl where crawl.id = %(crawl_id)s
), witness as materialized (
    select other.id,
           coalesce(other.is_complete, false)
           or row_number() over (order by other.created_at, other.id) = 1 as proves,
           (other.created_at, other.id) > (run.created_at, run.id)
           or row_number() over (order by other.created_at, other.id) = 1 as stays_longer,
           row_number() over (order by other.created_at desc, other.id desc) = 1 as is_latest
      from run
      join rag.crawls as other on other.source_id = run.source_id
), disputed as materialized (
    select distinct md5(page.uri) as digest
      from witness
      join rag.crawl_pages as page on page.crawl_id = witness.id
     where witness.proves
       and (page.status = 'failed'
            or page.status = 'skipped' and page.error_code = any(%(hiding)s))
), old as materialized (
    select page.id
      from run
      join rag.crawl_pages as page on page.crawl_id = run.id
     cross join lateral (
            select page.status = 'failed'
                   or page.status = 'skipped' and coalesce(page.error_code = any(%(hiding)s), false)
                   as has_failed) as own
     where md5(page.uri) not in (select digest from disputed)
        or exists (
            select 1 from witness
              join rag.crawl_pages as same
                on same.crawl_id = witness.id and md5(same.uri) = md5(page.uri)
             where witness.stays_longer and not witness.is_latest
               and own.has_failed
                   = (same.status = 'failed' or same.status = 'skipped'
                      and coalesce(same.error_code = any(%(hiding)s), false))
               and (not own.has_failed
                    or (witness.proves = run.is_complete
                        and (same.error_code in ('fetch_failed', 'fetch_status'))
                            is not distinct from (page.error_code in ('fetch_failed', 'fetch_status')))))
     order by page.id
     limit %(limit)s
       for update of page skip locked)
delete from rag.crawl_pages where id = any(array(select id from old));

-- name: forget_run
delete from rag.crawls as crawl
 where crawl.id = %(crawl_id)s
   and not exists (select 1 from rag.crawl_pages as page where page.crawl_id = crawl.id);
