-- name: copy_fresh
copy rag.embeddings_fresh (chunk_id, model_id, application_id, embedding)
from stdin (format binary);

-- name: copy_indexed
copy rag.embeddings (chunk_id, model_id, application_id, embedding) from stdin (format binary);

-- name: count
-- Bounded: beyond that it is full.
select model.dimension,
       (select count(*) from (
            select from rag.embeddings_fresh where model_id = model.id
             limit %(bound)s) as bounded) as vectors
  from rag.embedding_models as model
 where model.id = %(model_id)s;

-- name: levels
select model.dimension,
       (select count(*) from (
            select from rag.embeddings_fresh where model_id = model.id
             limit %(bound)s) as bounded) as vectors
  from rag.embedding_models as model;

-- name: lock_moving
-- Of all processes one moves at a time: two would only halve each other's processor.
select pg_try_advisory_xact_lock(7245110385);

-- name: is_quiet
-- Nothing runs, and nothing is about to.
select not exists (select from rag.processing_jobs where status = 'processing')
   and (exists (select from rag.worker_config where key = 'paused' and value = 'true')
        or not exists (
            select from rag.job_types as job_type
             where job_type.is_enabled and not job_type.is_paused
               and exists (
                    select from rag.processing_jobs as job
                     where job.status = 'pending' and job.run_at is null
                       and job.type = job_type.type)));

-- name: move
-- Oldest first. Chunks are locked before their vectors, as whoever deletes them does, and those that
-- are being deleted are left alone: neither waits for the other in a circle, and a delete that comes
-- later waits for this transaction and finds the vectors where they are then.
with due as (
    select fresh.chunk_id, fresh.model_id
      from rag.embeddings_fresh as fresh
      join rag.chunks as chunk on chunk.id = fresh.chunk_id
     order by fresh.chunk_id, fresh.model_id
     limit %(limit)s
       for key share of chunk skip locked
), moved as (
    delete from rag.embeddings_fresh as fresh
     using due
     where fresh.chunk_id = due.chunk_id and fresh.model_id = due.model_id
    returning fresh.chunk_id, fresh.model_id, fresh.application_id, fresh.embedding
)
insert into rag.embeddings (chunk_id, model_id, application_id, embedding)
select chunk_id, model_id, application_id, embedding from moved;
