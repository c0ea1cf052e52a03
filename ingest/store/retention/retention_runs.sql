-- Runs of sites and pages from long ago, and their pages. A later run asks what its failed pages did
-- in earlier ones (crawl_pages.sql `blind_spots`), so what that reads must stay:
--   * the first run, the last complete one, the latest and the current one, with all their pages;
--   * of addresses that failed in the first or in a complete run, the newest page of each outcome that
--     makes a difference there: whether it failed, whether a provider's fetch failed, and whether in
--     the first or a complete run. Other addresses are judged by what is left.
-- A run stays as long as any page of it does.

-- name: old
-- The one that ended first before the others; an open one, begun anew or not, has no end.
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
-- Pages of one such run. What makes a later or the first run say the same does so as well.
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
      join rag.crawl_pages as page on page.crawl_id = witness.id and page.status = 'failed'
     where witness.proves
), old as materialized (
    select page.id
      from run
      join rag.crawl_pages as page on page.crawl_id = run.id
     where md5(page.uri) not in (select digest from disputed)
        or exists (
            select 1 from witness
              join rag.crawl_pages as same
                on same.crawl_id = witness.id and md5(same.uri) = md5(page.uri)
             where witness.stays_longer and not witness.is_latest
               and (same.status = 'failed') = (page.status = 'failed')
               and (page.status <> 'failed'
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
