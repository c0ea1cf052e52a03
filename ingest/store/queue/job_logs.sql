-- name: add_logs
-- Drops lines of jobs that were deleted in the meantime.
insert into rag.job_logs (job_id, attempt, level, stage, message, details, duration_ms)
select new.job_id, new.attempt, new.level, new.stage, new.message, new.details, new.duration_ms
  from unnest(%(job_ids)b::uuid[], %(attempts)b::integer[], %(levels)b::text[], %(stages)b::text[],
              %(messages)b::text[], %(details)b::jsonb[], %(durations)b::integer[])
       with ordinality as new(job_id, attempt, level, stage, message, details, duration_ms, n)
 where exists (select 1 from rag.processing_jobs as job where job.id = new.job_id)
 order by new.n;
