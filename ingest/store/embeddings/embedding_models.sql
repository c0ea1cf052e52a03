-- name: register
insert into rag.embedding_models (provider, name, dimension, config)
values (%(provider)s, %(name)s, %(dimension)s, %(config)s)
on conflict (provider, name, dimension) do nothing;

-- name: find
select id, config from rag.embedding_models
 where provider = %(provider)s and name = %(name)s and dimension = %(dimension)s;

-- name: set_config
update rag.embedding_models set config = %(config)s where id = %(id)s;

-- name: last_dimension
select dimension from rag.embedding_models
 where provider = %(provider)s and name = %(name)s
 order by id desc limit 1;

-- name: lock_registration
select pg_advisory_xact_lock(7245110382);

-- name: create_index
-- By `halfvec`, up to 4,000 dimensions; models of earlier versions by `vector` (index_type).
create index if not exists {index} on rag.embeddings
 using hnsw ((embedding::halfvec({dimension})) halfvec_cosine_ops)
  with (m = 16, ef_construction = 256)
 where model_id = {model_id} and generation <= 0;
