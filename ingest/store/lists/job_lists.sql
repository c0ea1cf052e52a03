-- Jobs by conditions on their sources. Never prepared, as all lists of jobs. For `jobs`, see
-- queue/job_views.sql.

-- name: scan_end
-- The last of the jobs that one request reads, and how many it reads.
select min(page.position) as position, count(*) as jobs, min(page.created_at) as created_at
  from {jobs} as page;

-- name: search
-- The limit of the lateral keeps the planner from reading all sources to join them.
select job.*
  from (select page.id, page.position
          from {jobs} as page
         cross join lateral (
            select source.id, source.name, source.uri, source.metadata
              from rag.knowledge_sources as source
             where source.id = page.knowledge_source_id and source.deleted_at is null
             limit 1) as source
         where page.position >= %(oldest)s
           and (rag.source_contains(source.name, source.uri, source.metadata, %(pattern)s,
                                    %(metadata)s)
                or (%(pattern)s::text is not null
                    and rag.source_contains('', '', source.metadata, null, %(metadata)s)
                    and exists (select from rag.job_files as file
                                 where file.id = page.id and file.document_uri ilike %(pattern)s)))
           and (%(collection_id)s::uuid is null
                or exists (select from rag.collection_sources as member
                            where member.source_id = source.id
                              and member.collection_id = %(collection_id)s))
         order by page.position desc
         limit %(limit)s) as page
  join rag.job_views as job on job.id = page.id
 order by page.position desc;
