-- name: lock_sources
-- Held until the end of the transaction.
select pg_advisory_xact_lock(hashtextextended(%(application_id)s::uuid::text, 7245110383));

-- name: default_id
select id from app.applications where is_default;

-- name: add
insert into app.applications (id, name) values (%(id)s, %(name)s)
returning id, name, settings, is_default, created_at;

-- name: get
select id, name, settings, is_default, created_at from app.applications where id = %(id)s;

-- name: list
select id, name, settings, is_default, created_at
  from app.applications
 where %(before_id)s::uuid is null or (created_at, id) < (%(before_time)s, %(before_id)s)
 order by created_at desc, id desc
 limit %(limit)s;

-- name: edit
update app.applications
   set name = coalesce(%(name)s, name),
       -- Replaces a non-object, which was edited by hand and cannot be merged.
       settings = case jsonb_typeof(settings) when 'object' then settings else '{}' end || %(settings)s
 where id = %(id)s
returning id, name, settings, is_default, created_at;
