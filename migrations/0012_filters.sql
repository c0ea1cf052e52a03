-- Filters of searches (ingest/store/search/filters.sql).

-- The moment that a text in ISO 8601 names; null: it is no date. Without a zone it is UTC, without a
-- time the first moment of the day. Only dates that exist match, because a cast fails at others. As in
-- ingest/filters/dates.py.
create function rag.instant(value text) returns timestamptz
language sql stable parallel safe
as $$
select case
         when value !~ ('^([1-9]\d{3}-((0[13578]|1[02])-(0[1-9]|[12]\d|3[01])'
                        '|(0[469]|11)-(0[1-9]|[12]\d|30)|02-(0[1-9]|1\d|2[0-8]))'
                        '|([1-9]\d(0[48]|[2468][048]|[13579][26])|([2468][048]|[13579][26])00)-02-29)'
                        '([T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,6})?)?'
                        '(Z|[+-](0\d|1[0-4]):[0-5]\d)?)?$') then null
         when length(value) = 10 then (value || 'T00:00Z')::timestamptz
         when value ~ '(Z|[+-]\d\d:\d\d)$' then value::timestamptz
         else (value || 'Z')::timestamptz
       end
$$;

-- The date that a document states; formats with properties have `created`. Immutable, because each
-- text that rag.instant casts has a zone; the planner does not inline it then, but uses its index.
create function rag.published_at(metadata jsonb) returns timestamptz
language sql immutable parallel safe
as $$ select coalesce(rag.instant(metadata ->> 'date'), rag.instant(metadata ->> 'created')) $$;

-- Equality and containment of metadata. Searches use them across applications (matching.sql): below a
-- policy no operator of jsonb is used as an index condition.
create index if not exists knowledge_sources_metadata on rag.knowledge_sources
    using gin (metadata jsonb_path_ops) where deleted_at is null;
create index if not exists documents_metadata on rag.documents
    using gin (metadata jsonb_path_ops) where deleted_at is null;
-- Folders. A prefix, because a path may be longer than an index entry.
create index if not exists documents_folder on rag.documents
    (application_id, (left(uri, 100)) collate "C");
create index if not exists documents_published on rag.documents
    (application_id, rag.published_at(metadata)) where deleted_at is null;
