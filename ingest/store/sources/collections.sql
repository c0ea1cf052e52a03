-- name: add
-- Inserts nothing if another collection of the application has the name.
insert into rag.collections (id, application_id, name, description, metadata)
values (%(id)s, %(application_id)s, %(name)s, %(description)s, %(metadata)s)
on conflict (application_id, name) do nothing
returning id, application_id, name, description, metadata, 0 as source_count, created_at,
          updated_at;

-- name: are_many
-- Whether there are at least `most`.
select exists (select from rag.collections where application_id = %(application_id)s
               offset %(most)s - 1) as are_many;

-- name: list
select collection.id, collection.application_id, collection.name, collection.description,
       collection.metadata, collection.created_at, collection.updated_at,
       (select count(*) from rag.collection_sources as member
         where member.collection_id = collection.id) as source_count
  from rag.collections as collection
 where collection.application_id = %(application_id)s
   and (%(id)s::uuid is null or collection.id = %(id)s)
   and (%(before_id)s::uuid is null
        or (collection.created_at, collection.id) < (%(before_time)s, %(before_id)s))
 order by collection.created_at desc, collection.id desc
 limit %(limit)s;

-- name: edit
-- Null leaves a column unchanged.
update rag.collections
   set name = coalesce(%(name)s, name), description = coalesce(%(description)s, description),
       metadata = coalesce(%(metadata)s, metadata), updated_at = now()
 where application_id = %(application_id)s and id = %(id)s;

-- name: delete
delete from rag.collections where application_id = %(application_id)s and id = %(id)s;

-- name: hold
-- Those of the application. Until the transaction ends, nobody deletes them or changes their members.
select id from rag.collections
 where application_id = %(application_id)s and id = any(%(ids)s)
 order by id
   for no key update;

-- name: hold_sources
-- Live ones; they cannot be purged until the transaction ends.
select id from rag.knowledge_sources
 where application_id = %(application_id)s and id = any(%(ids)s) and deleted_at is null
 order by id
   for key share;

-- name: add_sources
insert into rag.collection_sources (collection_id, source_id, application_id)
select %(collection_id)s, added.id, %(application_id)s
  from unnest(%(source_ids)b::uuid[]) as added(id)
on conflict (collection_id, source_id) do nothing;

-- name: remove_sources
delete from rag.collection_sources
 where application_id = %(application_id)s and collection_id = %(collection_id)s
   and source_id = any(%(source_ids)s);

-- name: missing
select id from unnest(%(source_ids)b::uuid[]) as given(id)
 where not exists (
    select from rag.collection_sources as member
     where member.application_id = %(application_id)s
       and member.collection_id = %(collection_id)s and member.source_id = given.id);

-- name: visible
-- Those of `ids` that the transaction can see.
select id from rag.knowledge_sources
 where application_id = %(application_id)s and id = any(%(ids)s) and deleted_at is null;
