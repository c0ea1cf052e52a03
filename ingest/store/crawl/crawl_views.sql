-- Runs, their pages and schedules as the API shows them.

-- name: crawls
-- A run whose root job failed before it could end the run is shown as failed.
select crawl.id, crawl.job_id, crawl.provider,
       case when job.status = 'failed' and crawl.status in ('pending', 'running', 'finishing')
            then 'failed' else crawl.status end as status, crawl.page_count, crawl.skipped,
       crawl.is_complete, crawl.digest,
       coalesce(crawl.error_code, case when job.status = 'failed' then job.last_error_code end)
           as error_code,
       coalesce(crawl.error_message, case when job.status = 'failed' then job.last_error_message end)
           as error_message,
       crawl.created_at, crawl.started_at, coalesce(crawl.ended_at, job.completed_at) as ended_at
  from rag.crawls as crawl
  left join rag.processing_jobs as job on job.id = crawl.job_id
 where crawl.application_id = %(application_id)s and crawl.source_id = %(source_id)s
   and (%(before_id)s::uuid is null
        or (crawl.created_at, crawl.id) < (%(before_time)s, %(before_id)s))
 order by crawl.created_at desc, crawl.id desc
 limit %(limit)s;

-- name: scheduled
-- A source with a schedule always has a next time.
select source.id, source.type, source.name, source.uri, source.status, source.error_code,
       jsonb_build_object('cron', source.rescrape_cron, 'timezone', source.rescrape_timezone)
           as rescrape,
       source.next_rescrape_at, latest.run as last_run
  from rag.knowledge_sources as source
  left join lateral (
    select jsonb_build_object(
               'crawl_id', crawl.id, 'job_id', crawl.job_id,
               'status', case when job.status = 'failed'
                               and crawl.status in ('pending', 'running', 'finishing')
                              then 'failed' else crawl.status end,
               'error_code', coalesce(crawl.error_code,
                   case when job.status = 'failed' then job.last_error_code end),
               'error_message', coalesce(crawl.error_message,
                   case when job.status = 'failed' then job.last_error_message end),
               'created_at', crawl.created_at,
               'ended_at', coalesce(crawl.ended_at, job.completed_at)) as run
      from rag.crawls as crawl
      left join rag.processing_jobs as job on job.id = crawl.job_id
     where crawl.source_id = source.id
     order by crawl.created_at desc, crawl.id desc limit 1) as latest on true
 where source.application_id = %(application_id)s and source.rescrape_cron is not null
   and source.deleted_at is null
   and (%(after_id)s::uuid is null
        or (source.next_rescrape_at, source.id) > (%(after_time)s, %(after_id)s))
 order by source.next_rescrape_at, source.id
 limit %(limit)s;

-- name: pages
-- While a page is `queued`, its job determines the status and error shown.
select page.id, page.uri, page.depth, page.job_id,
       case when page.status = 'queued' and job.status in ('failed', 'cancelled') then 'failed'
            else page.status end as status,
       page.http_status,
       coalesce(page.error_code, case when page.status = 'queued' then job.last_error_code end)
           as error_code,
       coalesce(page.error_message, case when page.status = 'queued' then job.last_error_message end)
           as error_message,
       page.document_id, page.duplicate_of, encode(page.content_hash, 'hex') as content_hash,
       page.chunk_count, page.tokens_spent, page.tokens_saved, page.created_at, page.updated_at
  from rag.crawl_pages as page
  left join rag.processing_jobs as job on job.id = page.job_id
 where page.crawl_id = (
        select crawl.id from rag.crawls as crawl
         where crawl.application_id = %(application_id)s and crawl.source_id = %(source_id)s
           and (%(crawl_id)s::uuid is null or crawl.id = %(crawl_id)s)
         order by crawl.created_at desc, crawl.id desc limit 1)
   and (%(status)s::text is null
        or case when page.status = 'queued' and job.status in ('failed', 'cancelled') then 'failed'
                else page.status end = %(status)s)
   and (%(after)s::uuid is null or page.id > %(after)s)
 order by page.id
 limit %(limit)s;
