-- Notifications and their recipients. Each statement returns one row per event and subscribed
-- endpoint. It locks the endpoints, so that none is deleted before its deliveries are written. Data
-- are identifiers, names, states and counts: no document text, no job payloads.

-- name: sources
select endpoint.id as endpoint_id, endpoint.application_id, now() as at,
       'source.' || source.status as event,
       concat_ws(':', 'source', source.id, source.event_seq) as dedupe_key,
       jsonb_build_object(
           'applicationId', source.application_id, 'knowledgeSourceId', source.id,
           'batchId', source.batch_id, 'sourceType', source.type, 'name', source.name,
           'uri', source.uri, 'status', source.status, 'errorCode', source.error_code,
           'errorMessage', source.error_message, 'chunkCount', source.chunk_count,
           'tokenCount', source.token_count) as data
  from rag.knowledge_sources as source
  join rag.webhook_endpoints as endpoint
    on endpoint.application_id = source.application_id and endpoint.is_enabled
   and 'source.' || source.status = any(endpoint.events)
 where source.id = any(%(ids)s)
 order by endpoint.id, source.id
   for key share of endpoint;

-- name: failed_jobs
-- Mailboxes get no mail per file or page: the counts of the batch or run cover those.
select endpoint.id as endpoint_id, endpoint.application_id, now() as at,
       'job.failed' as event,
       concat_ws(':', 'job', job.id, job.fence) as dedupe_key,
       jsonb_build_object(
           'applicationId', job.application_id, 'jobId', job.id, 'jobType', job.type,
           'knowledgeSourceId', source.id, 'name', source.name, 'uri', source.uri,
           'batchId', job.batch_id, 'parentJobId', job.parent_job_id, 'attempts', job.attempts,
           'errorCode', job.last_error_code, 'errorMessage', job.last_error_message) as data
  from rag.processing_jobs as job
  left join rag.knowledge_sources as source on source.id = job.knowledge_source_id
  join rag.webhook_endpoints as endpoint
    on endpoint.application_id = job.application_id and endpoint.is_enabled
   and 'job.failed' = any(endpoint.events)
   and (endpoint.url not like 'mailto:%%' or coalesce(job.batch_id, job.parent_job_id) is null)
 where job.id = any(%(ids)s) and job.status = 'failed'
 order by endpoint.id, job.id
   for key share of endpoint;

-- name: rescrapes
select endpoint.id as endpoint_id, endpoint.application_id, now() as at,
       'rescrape.completed' as event,
       concat_ws(':', 'rescrape', crawl.id) as dedupe_key,
       jsonb_build_object(
           'applicationId', source.application_id, 'knowledgeSourceId', source.id,
           'name', source.name, 'uri', source.uri, 'crawlId', crawl.id, 'jobId', job.id,
           'status', job.status, 'isComplete', crawl.is_complete,
           'digest', coalesce(crawl.digest, '{}')) as data
  from rag.processing_jobs as job
  join rag.crawls as crawl on crawl.job_id = job.id
  join rag.knowledge_sources as source on source.id = crawl.source_id
  join rag.webhook_endpoints as endpoint
    on endpoint.application_id = source.application_id and endpoint.is_enabled
   and 'rescrape.completed' = any(endpoint.events)
 where job.id = any(%(ids)s)
 order by endpoint.id, crawl.id
   for key share of endpoint;

-- name: subscribers
select id from rag.webhook_endpoints
 where application_id = %(application_id)s and is_enabled and %(event)s = any(events)
 order by id
   for key share;

-- name: now
select now();
