-- name: emit
-- `seq` is assigned under the row lock of the source: it has no gaps and follows commit order.
with new as (
    select event.source_id, event.type, event.data,
           row_number() over (partition by event.source_id order by event.n) as nth
      from unnest(%(source_ids)b::uuid[], %(types)b::text[], %(data)b::jsonb[]) with ordinality
           as event(source_id, type, data, n)
), locked as materialized (
    select id from rag.knowledge_sources
     where id = any(%(source_ids)b)
     order by id
       for no key update
), numbered as (
    update rag.knowledge_sources as source
       set event_seq = source.event_seq + total.events, updated_at = now()
      from locked
      join (select source_id, count(*) as events from new group by source_id) as total
        on total.source_id = locked.id
     where source.id = locked.id
    returning source.id, source.application_id, source.event_seq - total.events as before
), written as (
    insert into rag.progress_events (source_id, seq, type, data)
    select new.source_id, numbered.before + new.nth, new.type, new.data
      from new
      join numbered on numbered.id = new.source_id
     order by new.source_id, new.nth
)
select id as source_id, application_id from numbered;

-- name: notify
select pg_notify('rag_events', payload) from unnest(%(payloads)b::text[]) as payload;

-- name: after
-- New events of many sources, each after its given position. The limit per source keeps one page of
-- a long replay from reading all events.
select event.source_id, event.seq, event.type, event.data, event.created_at
  from unnest(%(source_ids)b::uuid[], %(after)b::bigint[]) as position(source_id, seq)
 cross join lateral (
    select * from rag.progress_events as later
     where later.source_id = position.source_id and later.seq > position.seq
     order by later.seq limit %(limit)s) as event
 order by event.source_id, event.seq
 limit %(limit)s;
