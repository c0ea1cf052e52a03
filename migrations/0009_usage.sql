-- How much each application uses, for its quotas.
--
-- Triggers write each change as a row of its own, in the transaction that makes it: no row is shared
-- by concurrent transactions, and a killed process leaves no drift. A tick adds the changes up
-- (ingest/store/limits/usage.sql). Triggers, not statements of the store: many statements change
-- these rows, also those of the previous version, which runs during an upgrade.

create table rag.usage_totals (
    application_id  uuid primary key references app.applications on delete cascade,
    -- Live knowledge sources.
    sources         bigint not null default 0,
    -- Bytes of their files, and of the text of their documents.
    stored_bytes    bigint not null default 0,
    -- Bytes of files whose jobs have neither completed nor been cancelled.
    staged_bytes    bigint not null default 0,
    -- Jobs that are pending or being processed.
    pending_jobs    bigint not null default 0
) with (fillfactor = 50);

-- Not yet added to the totals. No foreign key: it would lock the application's row at each change.
create table rag.usage_changes (
    application_id  uuid not null,
    sources         bigint not null default 0,
    stored_bytes    bigint not null default 0,
    staged_bytes    bigint not null default 0,
    pending_jobs    bigint not null default 0
) with (
    -- Rows leave within seconds: vacuum early, often, at full speed.
    autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_vacuum_cost_delay = 0
);
create index usage_changes_application on rag.usage_changes (application_id);

create function rag.staged_bytes(type text, status text, payload jsonb) returns bigint
language sql immutable as $$
    select case when type in ('file', 'member') and status not in ('completed', 'cancelled')
                then coalesce((payload ->> 'sizeBytes')::bigint, 0) else 0 end
$$;

-- A quota in the settings of an application; null: the installation's.
create function rag.quota(settings jsonb, name text) returns bigint
language sql immutable as $$
    select jsonb_path_query_first(settings -> 'quotas' -> name,
               '$ ? (@.type() == "number" && @ >= 0 && @ <= 1000000000000000)')::bigint
$$;

create function rag.count_new_sources() returns trigger language plpgsql as $$
begin
    insert into rag.usage_changes (application_id, sources, stored_bytes)
    select application_id, count(*) filter (where deleted_at is null),
           coalesce(sum(size_bytes) filter (where deleted_at is null), 0) from added group by application_id;
    return null;
end $$;
create trigger count_new after insert on rag.knowledge_sources
    referencing new table as added for each statement execute function rag.count_new_sources();

create function rag.count_changed_source() returns trigger language plpgsql as $$
begin
    insert into rag.usage_changes (application_id, sources, stored_bytes)
    values (new.application_id,
            (new.deleted_at is null)::integer - (old.deleted_at is null)::integer,
            case when new.deleted_at is null then coalesce(new.size_bytes, 0) else 0 end
            - case when old.deleted_at is null then coalesce(old.size_bytes, 0) else 0 end);
    return null;
end $$;
create trigger count_changed after update of size_bytes, deleted_at on rag.knowledge_sources
    for each row when (old.size_bytes is distinct from new.size_bytes
                       or (old.deleted_at is null) <> (new.deleted_at is null))
    execute function rag.count_changed_source();

create function rag.count_removed_source() returns trigger language plpgsql as $$
begin
    insert into rag.usage_changes (application_id, sources, stored_bytes)
    values (old.application_id, -1, -coalesce(old.size_bytes, 0));
    return null;
end $$;
create trigger count_removed after delete on rag.knowledge_sources
    for each row when (old.deleted_at is null) execute function rag.count_removed_source();

create function rag.count_new_document() returns trigger language plpgsql as $$
begin
    insert into rag.usage_changes (application_id, stored_bytes)
    values (new.application_id, octet_length(new.text));
    return null;
end $$;
create trigger count_new after insert on rag.documents
    for each row when (new.deleted_at is null) execute function rag.count_new_document();

create function rag.count_changed_document() returns trigger language plpgsql as $$
begin
    insert into rag.usage_changes (application_id, stored_bytes)
    values (new.application_id,
            case when new.deleted_at is null then octet_length(new.text) else 0 end
            - case when old.deleted_at is null then octet_length(old.text) else 0 end);
    return null;
end $$;
create trigger count_changed after update of text, deleted_at on rag.documents
    for each row when (octet_length(old.text) <> octet_length(new.text)
                       or (old.deleted_at is null) <> (new.deleted_at is null))
    execute function rag.count_changed_document();

create function rag.count_removed_document() returns trigger language plpgsql as $$
begin
    insert into rag.usage_changes (application_id, stored_bytes)
    values (old.application_id, -octet_length(old.text));
    return null;
end $$;
create trigger count_removed after delete on rag.documents
    for each row when (old.deleted_at is null) execute function rag.count_removed_document();

create function rag.count_new_jobs() returns trigger language plpgsql as $$
begin
    insert into rag.usage_changes (application_id, staged_bytes, pending_jobs)
    select application_id, sum(rag.staged_bytes(type, status, payload)),
           count(*) filter (where status in ('pending', 'processing'))
      from added group by application_id;
    return null;
end $$;
create trigger count_new after insert on rag.processing_jobs
    referencing new table as added for each statement execute function rag.count_new_jobs();

-- By statement: a trigger for each row took a third of the throughput of short jobs.
create function rag.count_changed_jobs() returns trigger language plpgsql as $$
begin
    -- Claims and progress: these jobs count as before. Nothing changes a job's `sizeBytes`.
    if not exists (select from changed where status <> 'processing')
       and not exists (select from before where status not in ('pending', 'processing')) then
        return null;
    end if;
    insert into rag.usage_changes (application_id, staged_bytes, pending_jobs)
    select application_id, sum(staged_bytes), sum(pending_jobs)
      from (select application_id, rag.staged_bytes(type, status, payload) as staged_bytes,
                   (status in ('pending', 'processing'))::integer as pending_jobs
              from changed
             union all
            select application_id, -rag.staged_bytes(type, status, payload),
                   -(status in ('pending', 'processing'))::integer
              from before) as part
     group by application_id
    having sum(staged_bytes) <> 0 or sum(pending_jobs) <> 0;
    return null;
end $$;
create trigger count_changed after update on rag.processing_jobs
    referencing old table as before new table as changed
    for each statement execute function rag.count_changed_jobs();

create function rag.count_removed_job() returns trigger language plpgsql as $$
begin
    insert into rag.usage_changes (application_id, staged_bytes, pending_jobs)
    values (old.application_id, -rag.staged_bytes(old.type, old.status, old.payload),
            -(old.status in ('pending', 'processing'))::integer);
    return null;
end $$;
create trigger count_removed after delete on rag.processing_jobs
    for each row when (old.status not in ('completed', 'cancelled'))
    execute function rag.count_removed_job();

-- Everything counted from the rows themselves.
create view rag.counted_usage as
select application_id, sum(sources)::bigint as sources, sum(stored_bytes)::bigint as stored_bytes,
       sum(staged_bytes)::bigint as staged_bytes, sum(pending_jobs)::bigint as pending_jobs
  from (select application_id, count(*) as sources,
               coalesce(sum(size_bytes), 0) as stored_bytes, 0 as staged_bytes, 0 as pending_jobs
          from rag.knowledge_sources where deleted_at is null group by application_id
        union all
        select application_id, 0, sum(octet_length(text)), 0, 0
          from rag.documents where deleted_at is null group by application_id
        union all
        select application_id, 0, 0, sum(rag.staged_bytes(type, status, payload)),
               count(*) filter (where status in ('pending', 'processing'))
          from rag.processing_jobs where status not in ('completed', 'cancelled')
         group by application_id) as part
 group by application_id;

-- What exists already. The triggers' locks keep others from writing until this is committed.
insert into rag.usage_totals (application_id, sources, stored_bytes, staged_bytes, pending_jobs)
select application_id, sources, stored_bytes, staged_bytes, pending_jobs from rag.counted_usage;
