-- Lists that filter by more, and actions on all rows of a filter.

-- Failures by code: few sources have one.
create index if not exists knowledge_sources_error_code on rag.knowledge_sources
    (application_id, error_code, created_at desc, id desc)
    where error_code is not null and deleted_at is null;

-- Live sources by conditions that an index serves; null: any. As with rag.matching_jobs, call it
-- from unprepared statements.
create or replace function rag.matching_sources(
    application_id uuid, status text, type text, batch_id uuid, uri text, collection_id uuid,
    error_code text, since timestamptz, updated_since timestamptz)
returns setof rag.knowledge_sources
language sql stable
as $$
select source.*
  from rag.knowledge_sources as source
 where source.application_id = matching_sources.application_id
   and source.deleted_at is null
   and (matching_sources.status is null or source.status = matching_sources.status)
   and (matching_sources.type is null or source.type = matching_sources.type)
   and (matching_sources.batch_id is null or source.batch_id = matching_sources.batch_id)
   and (matching_sources.uri is null
        or (md5(source.uri) = md5(matching_sources.uri) and source.uri = matching_sources.uri))
   and (matching_sources.collection_id is null
        or exists (select from rag.collection_sources as member
                    where member.source_id = source.id
                      and member.collection_id = matching_sources.collection_id))
   and (matching_sources.error_code is null or source.error_code = matching_sources.error_code)
   and (matching_sources.since is null or source.created_at >= matching_sources.since)
   and (matching_sources.updated_since is null
        or source.updated_at >= matching_sources.updated_since)
$$;

-- The conditions that no index serves, because their operators are not leakproof and therefore run
-- after the policies: callers bound how many sources they read. `pattern` is one of `ilike`.
create or replace function rag.source_contains(
    name text, uri text, metadata jsonb, pattern text, wanted jsonb)
returns boolean
language sql immutable parallel safe
as $$
select (pattern is null or name ilike pattern or uri ilike pattern)
       and (wanted is null or metadata @> wanted)
$$;

-- Jobs that match, in no order, for bulk actions; null: any. Without a limit, so that the ids of a part
-- are looked up.
create or replace function rag.filtered_jobs(
    application_id uuid, ids uuid[], status text, type text, source_id uuid, batch_id uuid,
    parent_id uuid, error_code text, since timestamptz, pattern text, metadata jsonb,
    collection_id uuid)
returns setof rag.processing_jobs
language sql stable
as $$
select job.*
  from rag.processing_jobs as job
 where job.application_id = filtered_jobs.application_id
   and (filtered_jobs.ids is null or job.id = any(filtered_jobs.ids))
   and (filtered_jobs.status is null or job.status = filtered_jobs.status)
   and (filtered_jobs.type is null or job.type = filtered_jobs.type)
   and (filtered_jobs.source_id is null or job.knowledge_source_id = filtered_jobs.source_id)
   and (filtered_jobs.batch_id is null or job.batch_id = filtered_jobs.batch_id)
   and (filtered_jobs.parent_id is null or job.parent_job_id = filtered_jobs.parent_id)
   and (filtered_jobs.error_code is null or job.last_error_code = filtered_jobs.error_code)
   and (filtered_jobs.since is null or job.created_at >= filtered_jobs.since)
   and ((filtered_jobs.pattern is null and filtered_jobs.metadata is null
         and filtered_jobs.collection_id is null)
        or exists (
           select from rag.knowledge_sources as source
            where source.id = job.knowledge_source_id and source.deleted_at is null
              and (filtered_jobs.metadata is null or source.metadata @> filtered_jobs.metadata)
              and (filtered_jobs.pattern is null or source.name ilike filtered_jobs.pattern
                   or source.uri ilike filtered_jobs.pattern
                   or exists (select from rag.job_files as file
                               where file.id = job.id
                                 and file.document_uri ilike filtered_jobs.pattern))
              and (filtered_jobs.collection_id is null
                   or exists (select from rag.collection_sources as member
                               where member.source_id = source.id
                                 and member.collection_id = filtered_jobs.collection_id))))
$$;

-- The rows that a `bulk` job changes, as they were found when it was asked for: what matches its
-- filter later is left alone. A part is done in one transaction, which leaves its counts.
create table if not exists rag.bulk_parts (
    job_id          uuid not null references rag.processing_jobs on delete cascade,
    part            integer not null,
    application_id  uuid not null,
    row_count       integer not null,
    -- Sources or jobs; empty when done.
    ids             uuid[] not null,
    -- Null: not done.
    changed         integer,
    -- Rows left alone, by reason.
    skipped         jsonb not null default '{}',
    primary key (job_id, part)
);
create index if not exists bulk_parts_open on rag.bulk_parts (job_id, part) where changed is null;

insert into rag.job_types
    (type, handler, max_attempts, timeout, stage_timeout, max_concurrent, is_built_in)
values ('bulk', 'bulk', 10, '30 minutes', '10 minutes', null, true)
on conflict (type) do nothing;

-- A job as the API returns it. The payload is left out: it names internal blobs.
create or replace view rag.job_views as
select job.id, job.application_id, job.type, job.status, job.stage, job.progress, job.attempts,
       job.max_attempts, job.priority, job.knowledge_source_id, job.batch_id, job.parent_job_id,
       job.result, job.embedding_config, job.last_error_code, job.last_error_message,
       job.review_reason, job.run_at,
       case when job.status <> 'pending' then job.wait_reason
            when held.reason = 'paused' then held.reason
            else coalesce(job.wait_reason, held.reason) end as wait_reason,
       job.created_at, job.started_at, job.completed_at,
       case when job.status in ('completed', 'failed')
            then (extract(epoch from job.completed_at - job.started_at) * 1000)::bigint
       end as duration_ms,
       worker.heartbeat_at, job.position, source.name as source_name,
       -- Of the file inside a file, of the page of a site, else of the source.
       coalesce((select file.document_uri from rag.job_files as file where file.id = job.id),
                case when job.type = 'crawl_page' then (
                   select page.uri from rag.crawl_pages as page where page.job_id = job.id limit 1)
                end, source.uri) as uri
  from rag.processing_jobs as job
  join rag.held_job_types as held on held.type = job.type
  left join rag.workers as worker on worker.id = job.locked_by
  left join rag.knowledge_sources as source
    on source.id = job.knowledge_source_id and source.deleted_at is null;
