-- Reports on upload batches. A source that was deleted counts as cancelled, purged or not.

-- name: get
select batch.id, batch.application_id, batch.created_at, batch.updated_at, batch.completed_at,
       batch.accepted + batch.unchanged + batch.duplicate + batch.rejected as total,
       batch.accepted, batch.unchanged, batch.duplicate, batch.rejected,
       state.completed, state.partial, state.failed, state.cancelled, state.processing,
       state.pending, state.review_needed, state.deleted
  from rag.upload_batches as batch
 cross join lateral (
    select count(*) filter (where source.status = 'completed') as completed,
           count(*) filter (where source.status = 'partial') as partial,
           count(*) filter (where source.status = 'failed') as failed,
           count(*) filter (where coalesce(source.status, 'cancelled') = 'cancelled') as cancelled,
           count(*) filter (where source.status = 'processing') as processing,
           count(*) filter (where source.status = 'pending') as pending,
           count(*) filter (where source.status = 'review_needed') as review_needed,
           count(*) filter (where source.id is null or source.error_code = 'source_deleted')
             as deleted
      from rag.upload_files as file
      left join rag.knowledge_sources as source on source.id = file.knowledge_source_id
     where file.batch_id = batch.id and file.verdict = 'accepted') as state
 where batch.application_id = %(application_id)s and batch.id = %(id)s;

-- name: list
-- States of files are counted for batches that have few: a page of large ones would read millions.
select batch.id, batch.created_at, batch.updated_at, batch.completed_at,
       batch.accepted + batch.unchanged + batch.duplicate + batch.rejected as total,
       batch.accepted, batch.unchanged, batch.duplicate, batch.rejected,
       counted.states, counted.deleted
  from (select * from rag.upload_batches as batch
         where batch.application_id = %(application_id)s
           and (%(before_id)s::uuid is null
                or (batch.created_at, batch.id) < (%(before_time)s, %(before_id)s))
         order by batch.created_at desc, batch.id desc
         limit %(limit)s) as batch
  left join lateral (
    select coalesce(jsonb_object_agg(state.status, state.files), '{}') as states,
           coalesce(sum(state.deleted), 0) as deleted
      from (select coalesce(source.status, 'cancelled') as status, count(*) as files,
                   count(*) filter (where source.id is null
                                       or source.error_code = 'source_deleted') as deleted
              from rag.upload_files as file
              left join rag.knowledge_sources as source on source.id = file.knowledge_source_id
             where file.batch_id = batch.id and file.verdict = 'accepted'
             group by 1) as state) as counted
    on batch.accepted <= %(most)s
 order by batch.created_at desc, batch.id desc;

-- name: one_moment
-- Files that end between the statements must not make counts and rows disagree.
set transaction isolation level repeatable read, read only;

-- name: report
-- One page of rows, by primary key.
select file.ordinal, file.path, file.size_bytes, file.verdict, file.knowledge_source_id, file.job_id,
       case when file.knowledge_source_id is not null
            then coalesce(source.status, 'cancelled') end as status,
       coalesce(file.code, source.error_code,
                case when file.knowledge_source_id is not null and source.id is null
                     then 'source_deleted' end) as code,
       coalesce(file.detail, source.error_message) as detail,
       source.chunk_count, source.coverage
  from rag.upload_files as file
  left join rag.knowledge_sources as source on source.id = file.knowledge_source_id
 where file.batch_id = %(id)s and file.ordinal > %(after)s
   and exists (select 1 from rag.upload_batches as batch
                where batch.id = %(id)s and batch.application_id = %(application_id)s)
 order by file.ordinal
 limit %(limit)s;
