-- A job moves through states, and with each move all indexes are written in which it is. Three of them
-- served lists; one does, and what runs, which is never much, is found by its own.
create index processing_jobs_state on rag.processing_jobs
    (application_id, status, type, position desc)
    where status <> 'processing';
drop index if exists rag.processing_jobs_list;
drop index if exists rag.processing_jobs_status;
drop index if exists rag.processing_jobs_type;
