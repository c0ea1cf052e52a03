-- Expired rows that nothing else depends on. Each statement is one bounded step that uses an index.
-- Locked rows are left for the next round, so several replicas may run at once. Arrays and lateral
-- limits keep generic plans from scanning whole tables.

-- name: old_events
-- Candidates, oldest first; the next step continues after the last one.
select event.source_id, event.seq, event.created_at
  from rag.progress_events as event
 where event.created_at < now() - %(older_than)s::interval
   and (%(after_source)s::uuid is null
        or (event.created_at, event.source_id, event.seq)
         > (%(after_time)s::timestamptz, %(after_source)s::uuid, %(after_seq)s::bigint))
 order by event.created_at, event.source_id, event.seq
 limit %(limit)s;

-- name: forget_events
-- Keeps the last event of a source: it tells a client that reconnects the outcome. An event kept
-- for this reason earlier is deleted together with later ones.
with latest as (
    select named.source_id, max(named.seq) as seq
      from unnest(%(source_ids)s::uuid[], %(seqs)s::bigint[]) as named(source_id, seq)
     group by named.source_id
), old as materialized (
    select event.source_id, event.seq
      from latest
      join rag.knowledge_sources as source on source.id = latest.source_id
     cross join lateral (
        select every.source_id, every.seq from rag.progress_events as every
         where every.source_id = latest.source_id
           and every.seq <= latest.seq and every.seq < source.event_seq
         order by every.seq
           for update skip locked) as event)
delete from rag.progress_events as event using old
 where event.source_id = old.source_id and event.seq = old.seq;

-- name: events_seen
-- Goes back one day: events carry the start time of their transaction, so they may appear late, and
-- rows locked by another replica were skipped.
select (value #>> '{}')::timestamptz - interval '1 day' as since
  from rag.worker_config where key = 'events_seen';

-- name: see_events
insert into rag.worker_config as config (key, value)
values ('events_seen', to_jsonb(%(until)s::timestamptz))
on conflict (key) do update
   set value = excluded.value, updated_at = now()
 where (config.value #>> '{}')::timestamptz < (excluded.value #>> '{}')::timestamptz;

-- name: deliveries
-- Keeps pending deliveries, however old.
with old as materialized (
    select id from rag.webhook_deliveries
     where created_at < now() - %(older_than)s::interval and status <> 'pending'
     order by created_at limit %(limit)s
       for update skip locked)
delete from rag.webhook_deliveries where id = any(array(select id from old));

-- name: cached_vectors
with old as materialized (
    select ctid from rag.embedding_cache
     where created_at < now() - %(older_than)s::interval
     order by created_at limit %(limit)s
       for update skip locked)
delete from rag.embedding_cache where ctid = any(array(select ctid from old));

-- name: chunks
-- Chunks of the documents to delete next. Normally they were deleted with their page; deleting any
-- left over first keeps each step bounded.
with document as materialized (
    select id from rag.documents
     where deleted_at < now() - %(older_than)s::interval and held_by_job_id is null
     order by deleted_at limit %(limit)s
), old as materialized (
    select chunk.id
      from document
     cross join lateral (
        select id from rag.chunks
         where document_id = document.id
         order by ordinal limit %(limit)s
           for update skip locked) as chunk
     limit %(limit)s)
delete from rag.chunks where id = any(array(select id from old));

-- name: documents
-- Tombstones of pages removed from their site.
with old as materialized (
    select document.id from rag.documents as document
     where document.deleted_at < now() - %(older_than)s::interval
       and document.held_by_job_id is null
       and (select chunk.id from rag.chunks as chunk
             where chunk.document_id = document.id limit 1) is null
     order by document.deleted_at limit %(limit)s
       for update of document skip locked)
delete from rag.documents where id = any(array(select id from old));
