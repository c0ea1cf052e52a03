-- Collections: named sets of sources in an application, and keys that see some of them only.

create table rag.collections (
    id              uuid primary key,
    application_id  uuid not null references app.applications on delete cascade,
    name            text not null check (name <> ''),
    description     text not null default '',
    metadata        jsonb not null default '{}',
    created_at      timestamptz not null default now(),
    updated_at      timestamptz not null default now()
);
create unique index collections_name on rag.collections (application_id, name);
create index collections_list on rag.collections (application_id, created_at desc, id desc);

-- Deleting a collection, or purging a source, ends the membership only.
create table rag.collection_sources (
    collection_id   uuid not null references rag.collections on delete cascade,
    source_id       uuid not null references rag.knowledge_sources on delete cascade,
    application_id  uuid not null,
    added_at        timestamptz not null default now(),
    primary key (collection_id, source_id)
);
create index collection_sources_source on rag.collection_sources (source_id, collection_id);

-- A limited key stays limited when its collections are deleted: then it sees nothing.
alter table app.api_keys
    add column if not exists is_limited boolean not null default false,
    add constraint limited_keys_read_only check (not is_limited or role = 'viewer');

create table app.api_key_collections (
    key_id          uuid not null references app.api_keys on delete cascade,
    collection_id   uuid not null references rag.collections on delete cascade,
    application_id  uuid not null,
    primary key (key_id, collection_id)
);
create index api_key_collections_collection on app.api_key_collections (collection_id);

-- The collections that `app.collection_ids` lets a transaction of a limited key see; null: none.
create function app.visible_collections() returns uuid[]
language sql stable parallel safe
as $$ select nullif(current_setting('app.collection_ids', true), '')::uuid[] $$;

create or replace view rag.source_views as
select source.id, source.application_id, source.batch_id, source.type, source.name, source.uri,
       source.status, source.error_code, source.error_message, source.metadata, source.coverage,
       source.chunk_count, source.token_count, source.size_bytes,
       encode(source.content_hash, 'hex') as content_hash, source.duplicate_of,
       source.current_job_id as job_id, source.rescrape_cron, source.rescrape_timezone,
       source.next_rescrape_at, source.crawl_settings, source.chunking as own_chunking,
       (select application.settings -> 'chunking' from app.applications as application
         where application.id = source.application_id) as application_chunking,
       source.event_seq, source.created_at, source.updated_at,
       -- Why an open source waits, other than for a free worker: a wait reason of its root job or
       -- of a child.
       case when source.status in ('pending', 'processing') then (
          select jsonb_build_object('reason', job.wait_reason, 'code', job.last_error_code,
                                    'message', job.last_error_message, 'until', job.run_at)
            from (select root.* from rag.processing_jobs as root
                   where root.id = source.current_job_id
                  union all
                  select child.* from rag.processing_jobs as child
                   where child.parent_job_id = source.current_job_id) as job
           where job.status = 'pending' and job.run_at is not null
             and job.wait_reason not in ('pages', 'members')
           limit 1) end as waiting,
       array(select member.collection_id from rag.collection_sources as member
              where member.source_id = source.id order by member.collection_id) as collection_ids
  from rag.knowledge_sources as source
 where source.deleted_at is null;
