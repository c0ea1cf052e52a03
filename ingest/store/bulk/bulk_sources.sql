-- What bulk actions do to sources. Never prepared where they take a filter.

-- name: refusals
-- Sources of a filter, newest first, and why the action leaves them alone; null: it does not.
select source.id, case %(action)s::text
       when 'cancel' then
          case when source.status not in ('pending', 'processing', 'review_needed')
               then 'not_cancellable' end
       when 'retry' then
          case when not (source.status in ('failed', 'cancelled', 'partial') and (
                  exists (select from rag.processing_jobs as root
                           where root.id = source.current_job_id
                             and root.status in ('failed', 'cancelled'))
                  or exists (select from rag.processing_jobs as child
                              where child.parent_job_id = source.current_job_id
                                and child.type in ('member', 'archive')
                                and child.status in ('failed', 'cancelled'))))
               then 'not_retryable' end
       when 'fetch_again' then case when source.type = 'file' then 'not_rescrapable' end
       when 'read_again' then
          case when not rag.can_be_read_again(
                             source.type, source.status, source.blob_key, source.content_hash)
               then 'not_readable' end
       when 'set_schedule' then case when source.type = 'file' then 'not_rescrapable' end
       when 'set_metadata' then
          case when (source.metadata - %(removed_keys)s::text[]) || %(new_metadata)s::jsonb
                    = source.metadata then 'unchanged'
               when octet_length(((source.metadata - %(removed_keys)s::text[])
                                  || %(new_metadata)s::jsonb)::text) > %(longest_metadata)s
               then 'too_large' end
       when 'add_to_collection' then
          case when exists (select from rag.collection_sources as member
                             where member.source_id = source.id
                               and member.collection_id = %(target_id)s::uuid)
               then 'unchanged' end
       when 'remove_from_collection' then
          case when not exists (select from rag.collection_sources as member
                                 where member.source_id = source.id
                                   and member.collection_id = %(target_id)s::uuid)
               then 'unchanged' end
       when 'set_chunking' then
          case when source.chunking = %(new_chunking)s::jsonb then 'unchanged' end
       end as reason
  from rag.matching_sources(
          %(application_id)s, %(status)s, %(type)s, %(batch_id)s, %(uri)s,
          %(collection_id)s, %(error_code)s, %(since)s, %(updated_since)s) as source
 where (%(ids)s::uuid[] is null or source.id = any(%(ids)s))
   and (%(oldest_id)s::uuid is null
        or (source.created_at, source.id) >= (%(oldest_time)s, %(oldest_id)s))
   and rag.source_contains(source.name, source.uri, source.metadata, %(pattern)s, %(metadata)s)
 order by source.created_at desc, source.id desc
 limit %(limit)s;

-- name: retryable
-- The root job of the current run, or, if that completed, the files in its file that failed. Failed
-- pages of a completed run are fetched again with the next one.
select job.id
  from rag.knowledge_sources as source
  join rag.processing_jobs as root on root.id = source.current_job_id
 cross join lateral (
    select root.id where root.status in ('failed', 'cancelled')
    union all
    select child.id
      from rag.processing_jobs as child
     where root.status not in ('failed', 'cancelled')
       and child.parent_job_id = root.id and child.type in ('member', 'archive')
       and child.status in ('failed', 'cancelled')) as job
 where source.application_id = %(application_id)s and source.id = any(%(ids)s)
   and source.deleted_at is null;

-- name: set_metadata
-- Keys are added and replaced, the rest stays.
with chosen as materialized (
    select id from rag.knowledge_sources
     where application_id = %(application_id)s and id = any(%(ids)s) and deleted_at is null
     order by id
       for no key update)
update rag.knowledge_sources as source
   set metadata = (source.metadata - %(removed_keys)s::text[]) || %(new_metadata)s::jsonb,
       updated_at = now()
  from chosen
 where source.id = chosen.id
returning source.id, source.status;
