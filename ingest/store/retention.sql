-- What is kept for a time and nothing else depends on. Bounded steps by an index; rows that somebody
-- holds are left for the next time, so several replicas may do this at once.

-- name: old_events
-- Candidates, oldest first, by the end of which the next step goes on.
select event.source_id, event.seq, event.created_at
  from rag.progress_events as event
 where event.created_at < now() - %(older_than)s::interval
   and (%(after_source)s::uuid is null
        or (event.created_at, event.source_id, event.seq)
         > (%(after_time)s::timestamptz, %(after_source)s::uuid, %(after_seq)s::bigint))
 order by event.created_at, event.source_id, event.seq
 limit %(limit)s;

-- name: forget_events
-- The last event of a source stays: a client that comes back after it learns how it all ended.
with old as materialized (
    select event.source_id, event.seq
      from unnest(%(source_ids)s::uuid[], %(seqs)s::bigint[]) as named(source_id, seq)
      join rag.knowledge_sources as source
        on source.id = named.source_id and named.seq < source.event_seq
      join rag.progress_events as event
        on event.source_id = named.source_id and event.seq = named.seq
     order by event.source_id, event.seq
       for update of event skip locked)
delete from rag.progress_events as event using old
 where event.source_id = old.source_id and event.seq = old.seq;

-- name: deliveries
-- One that is still being tried stays, however old.
with old as materialized (
    select id from rag.webhook_deliveries
     where created_at < now() - %(older_than)s::interval and status <> 'pending'
     order by created_at limit %(limit)s
       for update skip locked)
delete from rag.webhook_deliveries as delivery using old where delivery.id = old.id;

-- name: cached_vectors
with old as materialized (
    select application_id, model_id, text_hash from rag.embedding_cache
     where created_at < now() - %(older_than)s::interval
     order by created_at limit %(limit)s
       for update skip locked)
delete from rag.embedding_cache as cached using old
 where cached.application_id = old.application_id and cached.model_id = old.model_id
   and cached.text_hash = old.text_hash;

-- name: documents
-- Pages that went from their site. Their chunks went then; one that has any left is not removed here,
-- so that no step is larger than it should be.
with old as materialized (
    select document.id from rag.documents as document
     where document.deleted_at < now() - %(older_than)s::interval and document.held_by is null
       and not exists (select 1 from rag.chunks as chunk where chunk.document_id = document.id)
     order by document.deleted_at limit %(limit)s
       for update of document skip locked)
delete from rag.documents as document using old where document.id = old.id;

-- name: chunks
-- Of such documents, should there be any. Their vectors go with them.
with old as materialized (
    select chunk.id
      from rag.documents as document
      join rag.chunks as chunk on chunk.document_id = document.id
     where document.deleted_at < now() - %(older_than)s::interval and document.held_by is null
     order by document.deleted_at limit %(limit)s
       for update of chunk skip locked)
delete from rag.chunks as chunk using old where chunk.id = old.id;
