-- name: store_fresh
-- Not COPY, which Postgres refuses for tables with row-level security.
insert into rag.embeddings_fresh (chunk_id, model_id, application_id, embedding)
select chunk_id, %(model_id)s, application_id, embedding
  from unnest(%(chunk_ids)b::uuid[], %(application_ids)b::uuid[], %(vectors)b::vector[])
       as new(chunk_id, application_id, embedding);

-- name: store_indexed
insert into rag.embeddings (chunk_id, model_id, application_id, embedding, generation)
select chunk_id, %(model_id)s, application_id, embedding,
       (select index_generation from rag.embedding_models where id = %(model_id)s)
  from unnest(%(chunk_ids)b::uuid[], %(application_ids)b::uuid[], %(vectors)b::vector[])
       as new(chunk_id, application_id, embedding);

-- name: count
-- Stops counting at the bound: the buffer is full then.
select model.dimension,
       (select count(*) from (
            select from rag.embeddings_fresh where model_id = model.id
             limit %(bound)s) as bounded) as vectors
  from rag.embedding_models as model
 where model.id = %(model_id)s;

-- name: lock_moving
-- One mover at a time across all processes: a second one would only compete for the CPU.
select pg_try_advisory_xact_lock(7245110385);

-- name: is_quiet
-- No job is running, and none can start now.
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
-- Oldest first. Like deletes, this locks chunks before their vectors, and it skips chunks being
-- deleted, so the two cannot deadlock. A later delete waits for this transaction and finds the
-- vectors in their new place. While an index is being built, they join what waits for it (index_builds.py),
-- which costs little, since the current index does not get them.
with due as (
    select fresh.chunk_id, coalesce(model.build_generation, model.index_generation) as generation
      from rag.embedding_models as model
      join rag.embeddings_fresh as fresh on fresh.model_id = model.id
      join rag.chunks as chunk on chunk.id = fresh.chunk_id
     where model.id = %(model_id)s
     order by fresh.chunk_id
     limit %(limit)s
       for key share of chunk skip locked
), moved as (
    delete from rag.embeddings_fresh as fresh
     using due
     where fresh.chunk_id = due.chunk_id and fresh.model_id = %(model_id)s
    returning fresh.chunk_id, fresh.model_id, fresh.application_id, fresh.embedding,
              due.generation
)
insert into rag.embeddings (chunk_id, model_id, application_id, embedding, generation)
select chunk_id, model_id, application_id, embedding, generation from moved;
