-- Change of an application's embedding model: new vectors beside the old, one switch, old ones dropped.

-- name: in_use
-- The models that documents of an application are searched by, %(last)s at the end. One look into the
-- index for each of them: a join with all models may read all documents.
with recursive used as (
    (select document.embedding_model_id as id
       from rag.documents as document
      where document.application_id = %(application_id)s and document.deleted_at is null
      order by document.embedding_model_id
      limit 1)
    union all
    select (select document.embedding_model_id
              from rag.documents as document
             where document.application_id = %(application_id)s and document.deleted_at is null
               and document.embedding_model_id > used.id
             order by document.embedding_model_id
             limit 1)
      from used
     where used.id is not null)
select model.id, model.provider, model.name, model.dimension, model.config
  from used
  join rag.embedding_models as model on model.id = used.id
 order by model.id = %(last)s, model.id;

-- name: count
select count(*) as documents,
       count(*) filter (where document.embedding_model_id <> %(model_id)s) as open,
       count(*) filter (
           where document.embedding_model_id <> %(model_id)s and done.document_id is not null) as ready
  from rag.documents as document
  join rag.knowledge_sources as source on source.id = document.source_id
  left join rag.reembedded_documents as done
    on done.document_id = document.id and done.model_id = %(model_id)s
   and done.document_updated_at = document.updated_at
 where document.application_id = %(application_id)s and source.deleted_at is null
   and (document.deleted_at is null or document.held_by_job_id is not null);

-- name: next
-- Includes versions held for review: publishing makes them searchable.
select document.id, document.source_id, document.updated_at, document.chunk_count
  from rag.documents as document
  join rag.knowledge_sources as source on source.id = document.source_id
 where document.application_id = %(application_id)s and source.deleted_at is null
   and document.embedding_model_id <> %(model_id)s
   and (document.deleted_at is null or document.held_by_job_id is not null)
   and (%(after)s::uuid is null or document.id > %(after)s)
   and not exists (
        select from rag.reembedded_documents as done
         where done.document_id = document.id and done.model_id = %(model_id)s
           and done.document_updated_at = document.updated_at)
 order by document.id
 limit %(limit)s;

-- name: missing_chunks
select chunk.id, chunk.document_id, chunk.ordinal, chunk.content, chunk.token_count, chunk.headings,
       document.title, document.uri, document.language,
       case when source.type = 'file' and document.uri = source.uri then source.name end
         as source_name
  from rag.chunks as chunk
  join rag.documents as document on document.id = chunk.document_id
  join rag.knowledge_sources as source on source.id = document.source_id
 where chunk.document_id = any(%(document_ids)s)
   and (chunk.document_id, chunk.ordinal) > (%(after_document)s::uuid, %(after_ordinal)s)
   and not exists (
        select from rag.embeddings as stored
         where stored.chunk_id = chunk.id and stored.model_id = %(model_id)s)
 order by chunk.document_id, chunk.ordinal
 limit %(limit)s;

-- name: lock_sources
select id from rag.knowledge_sources where id = any(%(ids)s) order by id for no key update;

-- name: unchanged
-- Documents that are as they were read, and can become searchable.
select document.id
  from unnest(%(ids)s::uuid[], %(updated)s::timestamptz[]) as seen(id, updated_at)
  join rag.documents as document
    on document.id = seen.id and document.updated_at = seen.updated_at
 where document.deleted_at is null or document.held_by_job_id is not null;

-- name: lacking
-- Chunks that still exist and have no vector of the model.
select chunk.id
  from rag.chunks as chunk
 where chunk.id = any(%(chunk_ids)s) and chunk.document_id = any(%(document_ids)s)
   and not exists (
        select from rag.embeddings as stored
         where stored.chunk_id = chunk.id and stored.model_id = %(model_id)s);

-- name: set_hashes
-- Chunks of an earlier version were embedded without their context.
update rag.chunks as chunk
   set embedded_hash = new.hash
  from unnest(%(ids)s::uuid[], %(hashes)b::bytea[]) as new(id, hash)
 where chunk.id = new.id and chunk.embedded_hash <> new.hash;

-- name: mark
insert into rag.reembedded_documents (document_id, model_id, application_id, document_updated_at)
select seen.id, %(model_id)s, %(application_id)s, seen.updated_at
  from unnest(%(ids)s::uuid[], %(updated)s::timestamptz[]) as seen(id, updated_at)
 order by seen.id
on conflict (document_id, model_id) do update set document_updated_at = excluded.document_updated_at;

-- name: lock_sources_to_switch
-- Also those that have only marks: of a change that was taken back, or of a second job.
select source.id
  from rag.knowledge_sources as source
 where source.application_id = %(application_id)s and source.id in (
        select document.source_id
          from rag.documents as document
         where document.application_id = %(application_id)s
           and document.embedding_model_id <> %(model_id)s
        union all
        select document.source_id
          from rag.reembedded_documents as done
          join rag.documents as document on document.id = done.document_id
         where done.application_id = %(application_id)s)
 order by source.id
   for no key update;

-- name: switch
-- The documents keep `updated_at`: their content has not changed.
update rag.documents as document
   set embedding_model_id = done.model_id
  from rag.reembedded_documents as done
 where done.application_id = %(application_id)s and done.model_id = %(model_id)s
   and document.id = done.document_id and document.updated_at = done.document_updated_at
   and document.embedding_model_id <> done.model_id;

-- name: switch_sources
-- Their next upload compares with this model.
update rag.knowledge_sources as source
   set embedding_model_id = %(model_id)s
 where source.id = any(%(ids)s) and source.embedding_model_id <> %(model_id)s
   and not exists (
        select from rag.documents as document
         where document.source_id = source.id and document.embedding_model_id <> %(model_id)s);

-- name: forget_marks
delete from rag.reembedded_documents where application_id = %(application_id)s;

-- name: drop_vectors
-- Locks chunks before their vectors and skips chunks being deleted, as the mover of fresh vectors does.
with due as (
    select stored.chunk_id, stored.model_id
      from rag.embedding_models as other
      join rag.embeddings as stored on stored.model_id = other.id
      join rag.chunks as chunk on chunk.id = stored.chunk_id
      join rag.documents as document on document.id = chunk.document_id
     where other.id <> %(model_id)s and stored.application_id = %(application_id)s
       and document.embedding_model_id = %(model_id)s
     limit %(limit)s
       for key share of chunk skip locked)
delete from rag.embeddings as stored
 using due
 where stored.chunk_id = due.chunk_id and stored.model_id = due.model_id;

-- name: oversized_sources
-- Sources with documents whose chunks may be longer than the model reads.
select distinct document.source_id
  from rag.documents as document
  join rag.knowledge_sources as source on source.id = document.source_id
 where document.application_id = %(application_id)s and source.deleted_at is null
   and document.deleted_at is null
   and (document.chunking ->> 'size')::integer > %(most)s
 order by document.source_id;

-- name: waiting_job
-- A job that has not started is given the wanted model; one being claimed now is skipped.
update rag.processing_jobs as job
   set payload = %(payload)s::jsonb
 where job.id = (
        select id from rag.processing_jobs
         where application_id = %(application_id)s and type = 'reembed' and status = 'pending'
         order by id limit 1
           for update skip locked)
returning job.id;

-- name: open_job
select id from rag.processing_jobs
 where application_id = %(application_id)s and type = 'reembed'
   and status in ('pending', 'processing')
 order by id desc limit 1;

-- name: outdated_applications
select application.id
  from app.applications as application
 where exists (
        select from rag.embedding_models as other
         where other.id <> %(model_id)s
           and exists (
                select from rag.documents as document
                 where document.application_id = application.id
                   and document.embedding_model_id = other.id and document.deleted_at is null))
 order by application.id;
