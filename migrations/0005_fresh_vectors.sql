-- New vectors wait outside of the HNSW index until somebody has the time to index them.

-- Part of rag.embeddings for whoever reads that; `only rag.embeddings` is what the indexes of the
-- models cover. Inherited instead of a partition: no row has to be looked at, and what the version
-- before stores, and indexes it makes for new models, go where they belong.
create table rag.embeddings_fresh (
    primary key (chunk_id, model_id),
    foreign key (chunk_id) references rag.chunks on delete cascade,
    foreign key (model_id) references rag.embedding_models
) inherits (rag.embeddings) with (
    -- Every row leaves soon: vacuum early, often and at full speed, for a search reads all of it.
    autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0.02
);
-- In the row as long as it fits into a page: to fetch each from a TOAST table takes three times as
-- long.
alter table rag.embeddings_fresh alter column embedding set storage main;
create index embeddings_fresh_application on rag.embeddings_fresh (model_id, application_id);
