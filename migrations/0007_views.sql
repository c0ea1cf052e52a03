-- Views and functions for conditions that several statements share. The planner inlines all of
-- them: a statement has the same plan as if it were written out.

-- ---------------------------------------------------------------- queue

-- What a worker may claim, as in the indexes processing_jobs_ready and processing_jobs_oldest.
create view rag.ready_jobs as
select id, type, application_id, priority, priority < 0 as is_background, position
  from rag.processing_jobs
 where status = 'pending' and run_at is null;

-- One step of a skip scan: the next application, by id, with ready jobs of this kind.
create function rag.next_ready_application(type text, is_background boolean, after uuid)
returns table (application_id uuid)
language sql stable
as $$
select job.application_id
  from rag.ready_jobs as job
 where job.type = next_ready_application.type
   and job.is_background = next_ready_application.is_background
   and job.application_id > next_ready_application.after
 order by job.application_id
 limit 1
$$;

-- What the limits of job types leave; null: no such limit. Running jobs are counted each time: a
-- stored counter could leak. The token bucket holds a burst of a tenth of the rate; the refill rate
-- is reduced so that no minute exceeds the limit. A lane that was never used is full.
create view rag.job_type_limits as
select job_type.type,
       case when job_type.max_concurrent is not null then job_type.max_concurrent - (
          select count(*) from rag.processing_jobs as job
           where job.status = 'processing' and job.type = job_type.type) end as free_slots,
       case when job_type.rate_per_minute is not null then least(
          rate.burst, lane.requests + rate.per_second
          * extract(epoch from greatest(clock_timestamp() - lane.refilled_at, '0')))
       end as tokens,
       rate.per_second
  from rag.job_types as job_type
  left join rag.lanes as lane on lane.lane = 'type:' || job_type.type
 cross join lateral (
    select size.burst, (job_type.rate_per_minute - size.burst + 1) / 60.0::float8 as per_second
      from (select greatest(job_type.rate_per_minute / 10, 1) as burst) as size) as rate;

-- Why ready jobs of a type do not start, other than a lack of free slots; null: they do.
create view rag.held_job_types as
select job_type.type,
       case
         when job_type.is_paused or not job_type.is_enabled or exists (
            select from rag.worker_config where key = 'paused' and value = 'true')
         then 'paused'
         when limits.free_slots <= 0 then 'max_concurrent'
         when limits.tokens < 1 then 'rate_limited'
       end as reason
  from rag.job_types as job_type
  join rag.job_type_limits as limits on limits.type = job_type.type;

-- The newest jobs that match; null: any. Call it from unprepared statements: then the planner knows
-- the values, and so the best index.
create function rag.matching_jobs(
    application_id uuid, status text, type text, source_id uuid, batch_id uuid, parent_id uuid,
    error_code text, before bigint, most integer)
returns setof rag.processing_jobs
language sql stable
as $$
select job.*
  from rag.processing_jobs as job
 where job.application_id = matching_jobs.application_id
   and (matching_jobs.status is null or job.status = matching_jobs.status)
   and (matching_jobs.type is null or job.type = matching_jobs.type)
   and (matching_jobs.source_id is null or job.knowledge_source_id = matching_jobs.source_id)
   and (matching_jobs.batch_id is null or job.batch_id = matching_jobs.batch_id)
   and (matching_jobs.parent_id is null or job.parent_job_id = matching_jobs.parent_id)
   and (matching_jobs.error_code is null or job.last_error_code = matching_jobs.error_code)
   and (matching_jobs.before is null or job.position < matching_jobs.before)
 order by job.position desc
 limit matching_jobs.most
$$;

-- The same for conditions on status and type only: the newest jobs of each, merged, because more
-- indexes would have to be written on every change of every job. Running jobs are not in that
-- index, but they are few.
create function rag.newest_jobs(
    application_id uuid, status text, type text, before bigint, most integer)
returns setof rag.processing_jobs
language sql stable
as $$
select job.*
  from (
    (select newest.*
       from unnest(array['pending', 'completed', 'failed', 'cancelled', 'review_needed'])
            as idle(status)
      cross join rag.job_types as kind
      cross join lateral (
         select job.*
           from rag.processing_jobs as job
          where job.application_id = newest_jobs.application_id and job.status = idle.status
            and job.status <> 'processing' and job.type = kind.type
            and (newest_jobs.before is null or job.position < newest_jobs.before)
          order by job.position desc
          limit newest_jobs.most) as newest
      where (newest_jobs.status is null or idle.status = newest_jobs.status)
        and (newest_jobs.type is null or kind.type = newest_jobs.type))
    union all
    (select job.*
       from rag.processing_jobs as job
      where (newest_jobs.status is null or newest_jobs.status = 'processing')
        and job.status = 'processing' and job.application_id = newest_jobs.application_id
        and (newest_jobs.type is null or job.type = newest_jobs.type)
        and (newest_jobs.before is null or job.position < newest_jobs.before)
      order by job.position desc
      limit newest_jobs.most)) as job
 order by job.position desc
 limit newest_jobs.most
$$;

-- A job as the API returns it. The payload is left out: it names internal blobs.
create view rag.job_views as
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
       worker.heartbeat_at, job.position
  from rag.processing_jobs as job
  join rag.held_job_types as held on held.type = job.type
  left join rag.workers as worker on worker.id = job.locked_by;

-- ---------------------------------------------------------------- sources

-- A source as the API returns it.
create view rag.source_views as
select source.id, source.application_id, source.batch_id, source.type, source.name, source.uri,
       source.status, source.error_code, source.error_message, source.metadata, source.coverage,
       source.chunk_count, source.token_count, source.size_bytes,
       encode(source.content_hash, 'hex') as content_hash, source.duplicate_of,
       source.current_job_id as job_id, source.rescrape_cron, source.rescrape_timezone,
       source.next_rescrape_at, source.crawl_settings, source.chunking as own_chunking,
       (select application.settings -> 'chunking' from app.applications as application
         where application.id = source.application_id) as application_chunking,
       source.event_seq, source.created_at, source.updated_at,
       -- Why an open source waits, other than for a free worker: a wait reason of its root job or
       -- of a child.
       case when source.status in ('pending', 'processing') then (
          select jsonb_build_object('reason', job.wait_reason, 'code', job.last_error_code,
                                    'message', job.last_error_message, 'until', job.run_at)
            from (select root.* from rag.processing_jobs as root
                   where root.id = source.current_job_id
                  union all
                  select child.* from rag.processing_jobs as child
                   where child.parent_job_id = source.current_job_id) as job
           where job.status = 'pending' and job.run_at is not null
             and job.wait_reason not in ('pages', 'members')
           limit 1) end as waiting
  from rag.knowledge_sources as source
 where source.deleted_at is null;

-- ---------------------------------------------------------------- search

-- Whether a source passes the filter of a search; null: no such filter.
create function rag.passes_filter(
    source_id uuid, metadata jsonb, wanted_ids uuid[], wanted_metadata jsonb)
returns boolean
language sql immutable parallel safe
as $$
select (wanted_ids is null or source_id = any(wanted_ids))
       and (wanted_metadata is null or metadata @> wanted_metadata)
$$;

-- Chunks that are not deleted, with what a search shows of their document and source.
create view rag.searchable_chunks as
select chunk.id, chunk.application_id, source.id as source_id, chunk.document_id, chunk.tsv,
       chunk.token_count, chunk.page, chunk.page_end, chunk.headings, chunk.content,
       document.title, document.uri, source.type as source_type, source.name as source_name,
       source.metadata
  from rag.chunks as chunk
  join rag.documents as document
    on document.id = chunk.document_id and document.deleted_at is null
  join rag.knowledge_sources as source
    on source.id = chunk.source_id and source.deleted_at is null;

-- BM25 (k1 1.2, b 0.75): the sum over terms of weight times saturating term frequency, normalised by
-- chunk length. ts_rank gives no term frequency n, so n is derived from it. For a word, ts_rank is
-- the sum of 1 / i^2 up to n, times 0.1 / (pi^2 / 6); the rest of the series is about 1 / (n + 1/2).
-- So n follows, even 0. For two adjacent words (numnode above 1) it is about 0.1 per occurrence.
create function rag.bm25(
    tsv tsvector, token_count integer, usual_length float8, terms tsquery[], weights float8[])
returns table (score float8)
language sql immutable parallel safe
as $$
select sum(term.weight * times.n / (times.n + 0.3 + 0.9 * token_count / usual_length))::float8
  from unnest(terms, weights) as term(query, weight)
 cross join lateral (select ts_rank(tsv, term.query)::float8 * 10 as rank) as found
 cross join lateral (
    select case when numnode(term.query) > 1 then found.rank
                else round(1 / greatest(1.6449341 * (1 - found.rank), 0.01) - 0.5) end as n
       ) as times
$$;
