-- Jobs by conditions on their sources. Never prepared, as all lists of jobs.

-- name: scan_end_matching
-- The last of the jobs that one request reads, and how many it reads.
select min(page.position) as position, count(*) as jobs, min(page.created_at) as created_at
  from rag.matching_jobs(
          application_id => %(application_id)s, status => %(status)s, type => %(type)s,
          source_id => %(source_id)s, batch_id => %(batch_id)s, parent_id => %(parent_id)s,
          error_code => %(error_code)s, before => %(before)s, most => %(scan)s) as page;

-- name: scan_end_newest
select min(page.position) as position, count(*) as jobs, min(page.created_at) as created_at
  from rag.newest_jobs(
          application_id => %(application_id)s, status => %(status)s, type => %(type)s,
          before => %(before)s, most => %(scan)s) as page;

-- name: search_matching
-- The limit of the lateral keeps the planner from reading all sources to join them.
select job.*
  from (select page.id, page.position
          from rag.matching_jobs(
                  application_id => %(application_id)s, status => %(status)s, type => %(type)s,
                  source_id => %(source_id)s, batch_id => %(batch_id)s, parent_id => %(parent_id)s,
                  error_code => %(error_code)s, before => %(before)s, most => %(scan)s) as page
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

-- name: search_newest
select job.*
  from (select page.id, page.position
          from rag.newest_jobs(
                  application_id => %(application_id)s, status => %(status)s, type => %(type)s,
                  before => %(before)s, most => %(scan)s) as page
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
