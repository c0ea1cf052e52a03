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
