-- name: sources
-- State, position and counts of sources in one snapshot. The jobs of a run are the root job and its
-- children. The unit is pages or files: a site's root job with children counts only if it failed,
-- was cancelled or needs a review; an uploaded file counts in addition to its members. The total is
-- unknown until a site's root job has ended or its crawl is `finishing`, and while a child that may
-- contain files is open.
select source.id, source.type as source_type, source.name, source.uri, source.status,
       source.error_code, source.error_message, source.chunk_count, source.event_seq,
       coalesce((select event.seq from rag.progress_events as event
                  where event.source_id = source.id
                  order by event.seq limit 1) - 1, source.event_seq) as oldest_position,
       run.total, run.completed, run.failed, run.processing, run.pending, run.cancelled,
       run.review_needed, run.points, run.ended_lately, run.is_counting,
       case when source.current_job_id is null then source.ended_job_counts end as ended_job_counts
  from rag.knowledge_sources as source
 cross join lateral (
    select count(*) filter (where job.counts) as total,
           count(*) filter (where job.counts and job.status = 'completed') as completed,
           count(*) filter (where job.counts and job.status = 'failed') as failed,
           count(*) filter (where job.counts and job.status = 'processing') as processing,
           count(*) filter (where job.counts and job.status = 'pending') as pending,
           count(*) filter (where job.counts and job.status = 'cancelled') as cancelled,
           count(*) filter (where job.counts and job.status = 'review_needed') as review_needed,
           coalesce(sum(case when job.status in ('completed', 'failed', 'cancelled') then 100
                             when job.status = 'pending' then 0
                             else job.progress end) filter (where job.counts), 0) as points,
           count(*) filter (where job.counts and job.completed_at > now() - interval '1 minute')
             as ended_lately,
           coalesce(bool_or(job.is_finding and job.status in ('pending', 'processing')), false)
             as is_counting
      from (select root.status, root.progress, root.completed_at,
                   source.type = 'site'
                   and not exists (select 1 from rag.crawls as crawl
                                    where crawl.job_id = root.id and crawl.status = 'finishing')
                     as is_finding,
                   source.type = 'file' or root.status in ('failed', 'cancelled', 'review_needed')
                   or not exists (select 1 from rag.processing_jobs as child
                                   where child.parent_job_id = root.id) as counts
              from rag.processing_jobs as root
             where root.id = source.current_job_id
             union all
            select child.status, child.progress, child.completed_at,
                   child.type = 'archive' or child.may_hold_files,
                   -- The files of an archive are counted instead, one by one.
                   child.type <> 'archive' or child.status in ('failed', 'cancelled')
              from rag.job_files as child
             where child.parent_job_id = source.current_job_id) as job) as run
 where source.application_id = %(application_id)s and source.id = any(%(ids)s)
   and source.deleted_at is null;

-- name: application
-- One statement, so that the counts are consistent. One pass over the application's sources in
-- index order takes half the time of eight separate counts.
select coalesce(sum(state.count), 0)::bigint as total,
       coalesce(sum(state.count) filter (where status in ('completed', 'partial')), 0)::bigint
         as completed,
       coalesce(sum(state.count) filter (where status = 'partial'), 0)::bigint as partial,
       coalesce(sum(state.count) filter (where status = 'failed'), 0)::bigint as failed,
       coalesce(sum(state.count) filter (where status = 'processing'), 0)::bigint as processing,
       coalesce(sum(state.count) filter (where status = 'pending'), 0)::bigint as pending,
       coalesce(sum(state.count) filter (where status = 'cancelled'), 0)::bigint as cancelled,
       coalesce(sum(state.count) filter (where status = 'review_needed'), 0)::bigint
         as review_needed,
       (select count(*) from rag.knowledge_sources
         where application_id = %(application_id)s and updated_at > now() - interval '1 minute'
           and status not in ('pending', 'processing') and deleted_at is null) as ended_lately
  from (select status, count(*) as count from rag.knowledge_sources
         where application_id = %(application_id)s and deleted_at is null
         group by status) as state;

-- name: unfinished_and_newest
-- All unfinished sources and the newest finished ones.
(select id from rag.knowledge_sources
  where application_id = %(application_id)s and deleted_at is null
    and status in ('pending', 'processing', 'review_needed')
  order by created_at desc, id desc limit %(limit)s)
union all
(select id from rag.knowledge_sources
  where application_id = %(application_id)s and deleted_at is null
    and status in ('completed', 'partial', 'failed', 'cancelled')
  order by created_at desc, id desc limit %(newest)s);

-- name: positions
select id, event_seq from rag.knowledge_sources where id = any(%(ids)s);

-- name: visible_before
-- All events with an earlier time are visible: the time of an event is the start of its
-- transaction. The 5 seconds cover transactions that our role cannot see.
select least(now() - interval '5 seconds', rag.oldest_transaction());

-- name: recently_changed
select source.id, source.application_id, source.event_seq
  from unnest(%(application_ids)s::uuid[], %(since)s::timestamptz[]) as followed(id, since)
  join rag.knowledge_sources as source
    on source.application_id = followed.id
   and source.updated_at >= greatest(followed.since, now() - %(within)s::interval);

-- name: replay_starts
-- The position from which to read sources not watched so far: that of the last event before
-- `since`.
select source.id,
       coalesce((select event.seq from rag.progress_events as event
                  where event.source_id = source.id
                    and event.created_at < greatest(heard.since, now() - %(horizon)s::interval)
                  order by event.seq desc limit 1), 0) as position
  from unnest(%(ids)s::uuid[], %(application_ids)s::uuid[], %(since)s::timestamptz[])
       as heard(id, application_id, since)
  join rag.knowledge_sources as source
    on source.id = heard.id and source.application_id = heard.application_id
 where source.deleted_at is null;
