-- A job moves through states, and with each move all indexes are written in which it is. Three of them
-- served lists; one does, and what runs, which is never much, is found by its own.
create index processing_jobs_state on rag.processing_jobs
    (application_id, status, type, position desc)
    where status <> 'processing';
drop index if exists rag.processing_jobs_list;
drop index if exists rag.processing_jobs_status;
drop index if exists rag.processing_jobs_type;

-- What is put under the index of vectors from now on is connected with more care: recall needs it
-- where chunks are much alike. What is there already stays as it was until the index is built anew.
do $$
declare
    name text;
begin
    for name in select indexname from pg_indexes
                 where schemaname = 'rag' and indexname ~ '^embeddings_hnsw_[0-9]+$' loop
        execute format('alter index rag.%I set (ef_construction = 256)', name);
    end loop;
end $$;
