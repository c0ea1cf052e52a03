-- Row-level security. The policies themselves are in ingest/store/row_security.sql, which protects
-- every table that has the column `application_id`.

-- What `app.application_id` allows the transaction: the rows of one application, of all ('*'), or
-- none (not set). `set local` leaves an empty string behind.
create function app.current_application() returns uuid
language sql stable parallel safe
as $$ select nullif(nullif(current_setting('app.application_id', true), ''), '*')::uuid $$;

create function app.is_across_applications() returns boolean
language sql stable parallel safe
as $$ select coalesce(current_setting('app.application_id', true) = '*', false) $$;

-- Chunks, as the keyword search finds them. Below a policy the planner uses no index for `@@`, since
-- the operator is not leakproof. A table does not apply the policies of those that inherit from it:
-- so the rows of rag.chunks are read as rows of this empty table, which only the view may read.
create table rag.unprotected_chunks (
    id              uuid not null,
    application_id  uuid not null,
    source_id       uuid not null,
    document_id     uuid not null,
    content         text not null,
    token_count     integer not null,
    keywords        text,
    tsv             tsvector
        generated always as (to_tsvector('english', coalesce(keywords, content))) stored
);
alter table rag.chunks inherit rag.unprotected_chunks;

create view rag.keyword_index as
select id, application_id, source_id, document_id, token_count, tsv
  from rag.unprotected_chunks
 where application_id = app.current_application();

-- Frequent words of the chunks, from the planner's statistics, which are hidden below a policy.
-- Those of the empty table above are visible to every owner; a tick collects them where the owner of
-- rag.chunks cannot see its own.
create function rag.word_shares() returns table (words text[], shares float8[])
language sql stable security definer set search_path = pg_catalog
as $$
select most_common_elems::text::text[], most_common_elem_freqs::float8[]
  from pg_stats
 where schemaname = 'rag' and tablename in ('chunks', 'unprotected_chunks') and attname = 'tsv'
   and most_common_elems is not null
 order by tablename
 limit 1
$$;

-- Start of the oldest transaction that the owner can see: a role sees only its own sessions.
create function rag.oldest_transaction() returns timestamptz
language sql stable security definer set search_path = pg_catalog
as $$ select min(xact_start) from pg_stat_activity $$;

-- Running jobs of a type, of all applications, whichever the caller may see: a limit of the type
-- holds for all of them together.
create function rag.running_jobs(type text) returns bigint
language plpgsql stable set enable_seqscan = off
as $$
declare
  visible text := current_setting('app.application_id', true);
  running bigint;
begin
  perform set_config('app.application_id', '*', true);
  running := (select count(*) from rag.processing_jobs as job
               where job.status = 'processing' and job.type = running_jobs.type);
  perform set_config('app.application_id', visible, true);
  return running;
end $$;

create or replace view rag.job_type_limits as
select job_type.type,
       case when job_type.max_concurrent is not null
            then job_type.max_concurrent - rag.running_jobs(job_type.type) end as free_slots,
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
