-- Chunk settings of applications and sources, and the sources that must be rechunked.

-- name: layers
select source.id, application.settings -> 'chunking' as application, source.chunking as source,
       found.blocks as furniture
  from rag.knowledge_sources as source
  left join rag.site_furniture as found on found.source_id = source.id
  join app.applications as application on application.id = source.application_id
 where source.id = any(%(source_ids)s);

-- name: lock_application
-- Taken to change an application's settings; held until the end of the transaction.
select pg_advisory_xact_lock(hashtextextended(%(application_id)s::uuid::text, 7245110384));

-- name: lock_applications_shared
-- Taken to store chunks. The row locks block changes to the sources' own settings.
select pg_advisory_xact_lock_shared(hashtextextended(owner.application_id::text, 7245110384))
  from (select distinct source.application_id
          from (select application_id from rag.knowledge_sources
                 where id = any(%(source_ids)s) order by id for no key update) as source) as owner;

-- name: set_overrides
with chosen as materialized (
    select id from rag.knowledge_sources
     where application_id = %(application_id)s and id = any(%(source_ids)s)
       and deleted_at is null and chunking is distinct from %(own)s
     order by id
       for no key update)
update rag.knowledge_sources as source
   set chunking = %(own)s, updated_at = now()
  from chosen
 where source.id = chosen.id;

-- name: distinct_overrides
select distinct chunking from rag.knowledge_sources
 where application_id = %(application_id)s and deleted_at is null;

-- name: outdated_sources
-- Includes versions held for review: publishing makes them searchable.
select source.id
  from rag.knowledge_sources as source
  left join rag.site_furniture as found on found.source_id = source.id and %(leave_out)s
 where source.application_id = %(application_id)s and source.id = any(%(source_ids)s)
   and source.deleted_at is null
   and exists (
        select 1 from rag.documents as document
         where document.source_id = source.id
           and (document.deleted_at is null or document.held_by_job_id is not null)
           and document.chunking <> %(effective)s::jsonb
               || jsonb_strip_nulls(jsonb_build_object('furniture', found.digest)))
 order by source.id;

-- name: outdated_sources_of_application
select source.id
  from unnest(%(own)s::jsonb[], %(effective)s::jsonb[], %(leave_out)s::boolean[])
       as choice(own, effective, leave_out)
  join rag.knowledge_sources as source on source.chunking = choice.own
  left join rag.site_furniture as found on found.source_id = source.id and choice.leave_out
 where source.application_id = %(application_id)s and source.deleted_at is null
   and exists (
        select 1 from rag.documents as document
         where document.source_id = source.id
           and (document.deleted_at is null or document.held_by_job_id is not null)
           and document.chunking <> choice.effective
               || jsonb_strip_nulls(jsonb_build_object('furniture', found.digest)))
 order by source.id;

-- name: waiting
-- Sources with a pending job: it reads the settings when it starts. The row lock prevents a claim
-- before we commit. A job being claimed now is skipped: it may have read the old settings.
select knowledge_source_id
  from rag.processing_jobs
 where knowledge_source_id = any(%(source_ids)s) and type = 'rechunk' and status = 'pending'
 order by id
   for update skip locked;
