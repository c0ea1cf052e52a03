-- What is asked again and again reads no more when more is stored.

-- Pages and sites for the nightly round, which would else look through all files for them.
create index if not exists knowledge_sources_nightly on rag.knowledge_sources (id)
    where type in ('url', 'site') and deleted_at is null and next_rescrape_at is null;

-- Jobs without a source are most where the queue is fastest.
drop index if exists rag.processing_jobs_source;
create index processing_jobs_source on rag.processing_jobs (knowledge_source_id, position desc)
    where knowledge_source_id is not null;
