-- name: levels
-- Counting stops at the bound: the buffer is full then. `has_leftovers`: an index is there
-- that no search uses.
select model.id as model_id, model.dimension, model.index_type,
       (select count(*) from (
            select from rag.embeddings_fresh where model_id = model.id
             limit %(bound)s) as bounded) as fresh,
       model.build_generation is not null as is_building,
       model.build_attempts as attempts,
       coalesce(model.build_after <= now(), true) as may_build,
       (select setting::bigint * 1024 from pg_settings where name = 'maintenance_work_mem')
         as build_memory,
       (select count(*) > 1
          from pg_index as entry
          join pg_class as index on index.oid = entry.indexrelid
         where entry.indrelid = 'rag.embeddings'::regclass
           and index.relname ~ format('^embeddings_hnsw_%%s(_\d+)?$', model.id)) as has_leftovers
  from rag.embedding_models as model
 order by model.id;

-- name: count_indexed
-- Of one model, up to a bound.
select count(*) from (
    select from only rag.embeddings where model_id = %(model_id)s limit %(bound)s) as bounded;

-- name: lock_building
-- Held by the session, because a build is not in a transaction; it ends with the session.
select pg_try_advisory_lock(7245110392);

-- name: lock_building_for_transaction
select pg_try_advisory_xact_lock(7245110392);

-- name: unlock_building
select pg_advisory_unlock(7245110392);

-- name: begin
-- Counted before it is tried: a build that takes the server down must not be tried for ever.
update rag.embedding_models
   set build_generation = coalesce(build_generation, index_generation + 1),
       build_attempts = build_attempts + 1
 where id = %(model_id)s
returning id as model_id, dimension, index_type, build_generation as generation,
          build_attempts as attempts;

-- name: set_parallel_workers
select set_config('max_parallel_maintenance_workers', '0', false);

-- name: reset_parallel_workers
reset max_parallel_maintenance_workers;

-- name: create
create index concurrently {index} on rag.embeddings
 using hnsw ((embedding::{type}({dimension})) {operators})
  with (m = 16, ef_construction = 256)
 where model_id = {model_id} and generation <= {generation};

-- name: indexes
-- Of one model; not valid: its build was broken off. `takes_all`: vectors of every generation, as
-- indexes of earlier versions do.
select index.relname, entry.indisvalid, model.index_generation, model.build_generation,
       pg_get_expr(entry.indpred, entry.indrelid) !~ 'generation' as takes_all
  from rag.embedding_models as model
  join pg_index as entry on entry.indrelid = 'rag.embeddings'::regclass
  join pg_class as index on index.oid = entry.indexrelid
   and index.relname ~ format('^embeddings_hnsw_%%s(_\d+)?$', model.id)
 where model.id = %(model_id)s;

-- name: switch
update rag.embedding_models
   set index_generation = build_generation, build_generation = null, build_attempts = 0,
       build_after = null
 where id = %(model_id)s and build_generation = %(generation)s;

-- name: drop
drop index concurrently if exists rag.{index};

-- name: settle
-- Puts vectors that were staged for a build that failed under the current index.
with due as (
    select stored.chunk_id, model.index_generation
      from rag.embedding_models as model
      join only rag.embeddings as stored
        on stored.model_id = model.id and stored.generation > model.index_generation
      join rag.chunks as chunk on chunk.id = stored.chunk_id
     where model.id = %(model_id)s
     limit %(limit)s
       for key share of chunk skip locked
)
update only rag.embeddings as stored
   set generation = due.index_generation
  from due
 where stored.chunk_id = due.chunk_id and stored.model_id = %(model_id)s;

-- name: give_up
-- Unless vectors are still staged, whose chunks were locked.
update rag.embedding_models as model
   set build_generation = null, build_attempts = 0, build_after = now() + interval '1 day'
 where model.id = %(model_id)s and model.build_generation is not null
   and not exists (
        select from only rag.embeddings as stored
         where stored.model_id = model.id and stored.generation > model.index_generation);
