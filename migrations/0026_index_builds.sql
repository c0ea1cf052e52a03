-- HNSW indexes are built anew when many vectors wait: a row costs a third or less of an insert.

-- A vector is in the HNSW indexes of this generation and of later ones. Each has the predicate
-- `generation <= n`, so a search of generation n can use any later index too.
alter table rag.embeddings add column if not exists generation integer not null default 0;

-- Finds the vectors that wait for an index that is being built.
create index if not exists embeddings_generation
    on rag.embeddings (model_id, application_id, generation);
drop index if exists rag.embeddings_application;

alter table rag.embedding_models
    -- What searches use: embeddings_hnsw_<id>, or embeddings_hnsw_<id>_<generation> above 0.
    add column if not exists index_generation integer not null default 0,
    -- The one being built, of this process or of one that died; null: none.
    add column if not exists build_generation integer,
    add column if not exists build_attempts smallint not null default 0,
    -- After several attempts failed: none until then.
    add column if not exists build_after timestamptz;
