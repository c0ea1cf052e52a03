-- Completion of upload batches.

-- name: lock
-- A separate statement: the next one must see everything committed before we got the lock. A batch
-- that another transaction holds is being completed, or has just received files.
select id from rag.upload_batches
 where id = any(%(ids)s) and completed_at is null
 order by id
   for no key update skip locked;

-- name: complete
-- Most batches are processed in order, so while the last job is open, read nothing else.
update rag.upload_batches as batch
   set completed_at = now()
 where batch.id = any(%(ids)s)
   and case
         when (select job.status in ('pending', 'processing')
                 from rag.processing_jobs as job
                where job.batch_id = batch.id
                order by job.position desc limit 1) then false
         else not exists (
            select 1 from rag.upload_files as file
              join rag.knowledge_sources as source on source.id = file.knowledge_source_id
             where file.batch_id = batch.id and file.verdict = 'accepted'
               and source.status in ('pending', 'processing'))
       end
returning batch.id, batch.application_id, batch.completed_at;

-- name: list_open
select id from rag.upload_batches where completed_at is null order by updated_at;

-- name: reopen
with batch as materialized (
    select id from rag.upload_batches
     where completed_at is not null
       and id in (select batch_id from rag.processing_jobs where id = any(%(job_ids)s))
     order by id
       for no key update)
update rag.upload_batches as reopened
   set completed_at = null, updated_at = now()
  from batch
 where reopened.id = batch.id;
