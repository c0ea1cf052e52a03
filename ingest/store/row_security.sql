-- The second wall between applications; the first are the conditions in the statements themselves.
-- The migrator runs `grant_own_roles` and `protect` at each start: they change only what is missing,
-- so tables and views of any migration are included.

-- name: grant_own_roles
-- The roles that transactions take: they may read and write rows, but neither change tables nor bypass
-- policies. One sees what `app.application_id` allows; `_all` sees the rows of all applications by a
-- policy of its own; `_collections`, for keys that are limited to collections, only reads. Roles belong
-- to the whole server, so the names have the number of the database.
-- Without the right to create roles there are none, and the policies hold for the login role.
do $$
declare
  own text;
  item record;
begin
 foreach own in array array(
   select 'rag_ingest_' || oid || suffix
     from pg_database, unnest(array['', '_all', '_collections']) as suffix
    where datname = current_database())
 loop
  if not exists (select from pg_roles where rolname = own) then
    begin
      execute format('create role %I nologin nosuperuser nobypassrls', own);
    exception
      when insufficient_privilege then return;
      when duplicate_object or unique_violation then null;  -- of a start at the same time
    end;
  end if;
  begin
    -- From 16 on, who creates a role may administer it but not take it. Rights are not inherited:
    -- outside of transactions, the login role sees no more than the policies allow.
    if current_setting('server_version_num')::integer < 160000 then
      if not pg_has_role(own, 'member') then
        execute format('grant %I to current_user', own);
      end if;
    elsif not pg_has_role(own, 'set') then
      execute format('grant %I to current_user with inherit false, set true', own);
    end if;
    for item in
      select distinct namespace.oid::regnamespace as name
        from pg_namespace as namespace
       where nspname in ('app', 'rag')
          or oid = (select extnamespace from pg_extension where extname = 'vector')
    loop
      if not has_schema_privilege(own, item.name::oid, 'usage') then
        execute format('grant usage on schema %s to %I', item.name, own);
      end if;
    end loop;
    for item in
      select class.oid::regclass as name, needed.rights
        from pg_class as class
       cross join lateral (
          select case when relname in ('keyword_index', 'schema_migrations')
                           or own like '%_collections' then 'select'
                      else 'select, insert, update, delete' end as rights) as needed
       where relnamespace in ('app'::regnamespace, 'rag'::regnamespace)
         and relkind in ('r', 'p', 'v') and class.oid <> 'rag.unprotected_chunks'::regclass
         and not has_table_privilege(own, class.oid, split_part(needed.rights, ', ', -1))
    loop
      execute format('grant %s on %s to %I', item.rights, item.name, own);
    end loop;
    for item in
      select oid::regprocedure as name from pg_proc
       where pronamespace in ('app'::regnamespace, 'rag'::regnamespace)
         and not has_function_privilege(own, oid, 'execute')
    loop
      execute format('grant execute on function %s to %I', item.name, own);
    end loop;
  exception
    when insufficient_privilege then
      raise notice 'the role % lacks rights that % cannot grant', own, current_user;
  end;
 end loop;
end $$;

-- name: protect
-- FORCE, because the owner of a table is exempt otherwise. A view has the rights of its owner unless
-- it is `security_invoker`, and `create or replace view` resets that.
do $$
declare
  item record;
  across text := (select rolname from pg_roles
                   where rolname = 'rag_ingest_' || (
                      select oid from pg_database where datname = current_database()) || '_all');
  limited text := (select rolname from pg_roles
                    where rolname = 'rag_ingest_' || (
                       select oid from pg_database where datname = current_database())
                       || '_collections');
begin
  for item in
    select class.oid::regclass as name, class.relkind,
           class.relrowsecurity and class.relforcerowsecurity as is_forced,
           exists (select from pg_policy where polrelid = class.oid
                      and polname = 'own_application') as has_policy,
           exists (select from pg_policy where polrelid = class.oid
                      and polname = 'all_applications') as has_role_policy,
           exists (select from pg_policy where polrelid = class.oid
                      and polname = 'own_collections') as has_limit,
           -- The column with the source; the key of knowledge_sources is qualified, because
           -- collection_sources has columns of the same names.
           (select class.relname || '.' || attname from pg_attribute
             where attrelid = class.oid
               and attname = case class.relname when 'knowledge_sources' then 'id'
                                                when 'processing_jobs' then 'knowledge_source_id'
                                                else 'source_id' end) as source,
           coalesce('security_invoker=true' = any(class.reloptions), false) as is_invoker,
           case when class.oid = 'app.applications'::regclass then 'id'
                else 'application_id' end as owner
      from pg_class as class
     where class.relnamespace in ('app'::regnamespace, 'rag'::regnamespace)
       and (class.relkind = 'v'
            or class.relkind in ('r', 'p')
               and (class.oid = 'app.applications'::regclass
                    or exists (select from pg_attribute
                                where attrelid = class.oid and attname = 'application_id'
                                  and not attisdropped)))
       -- These search the chunks by words (the migration row_security).
       and class.oid not in ('rag.unprotected_chunks'::regclass, 'rag.keyword_index'::regclass)
  loop
    if item.relkind = 'v' then
      if not item.is_invoker then
        execute format('alter view %s set (security_invoker = true)', item.name);
      end if;
      continue;
    end if;
    if not item.has_policy then
      execute format(
        'create policy own_application on %s using '
        '(%I = (select app.current_application()) or (select app.is_across_applications()))',
        item.name, item.owner);
    end if;
    -- The planner drops both conditions then: a claim costs as much as without policies.
    if across is not null and not item.has_role_policy then
      execute format('create policy all_applications on %s to %I using (true)', item.name, across);
    end if;
    -- What names no source is hidden from limited keys, so a new table is too.
    if limited is not null and not item.has_limit then
      execute format(
        'create policy own_collections on %s as restrictive to %I using (%s)', item.name, limited,
        case item.name::oid
          when 'app.applications'::regclass then 'true'
          when 'rag.collections'::regclass then 'id = any((select app.visible_collections())::uuid[])'
          when 'rag.collection_sources'::regclass
            then 'collection_id = any((select app.visible_collections())::uuid[])'
          else coalesce(
            'exists (select from rag.collection_sources as member where member.source_id = '
            || item.source
            || ' and member.collection_id = any((select app.visible_collections())::uuid[]))', 'false')
        end);
    end if;
    if not item.is_forced then
      execute format('alter table %s enable row level security, force row level security',
                     item.name);
    end if;
  end loop;
end $$;

-- name: own_role
-- The first role of `grant_own_roles`, if this login role may take both and they have what they
-- need; and whether the login role is exempt from the policies.
select (select min(rolname) from pg_roles as own
         where rolname in (
                select 'rag_ingest_' || oid || suffix
                  from pg_database, unnest(array['', '_all']) as suffix
                 where datname = current_database())
           and not rolsuper and not rolbypassrls
           and pg_has_role(own.oid, case when current_setting('server_version_num')::integer
                                              >= 160000 then 'set' else 'member' end)
           and has_table_privilege(own.oid, 'rag.chunks', 'insert')
           and (select bool_and(has_schema_privilege(own.oid, namespace.oid, 'usage'))
                  from pg_namespace as namespace
                 where nspname in ('app', 'rag')
                    or oid = (select extnamespace from pg_extension where extname = 'vector'))
        having count(*) = 2),
       (select rolsuper or rolbypassrls from pg_roles where rolname = current_user) as is_exempt,
       exists (
          select from pg_roles as own
           where rolname = 'rag_ingest_' || (
                    select oid from pg_database where datname = current_database())
                    || '_collections'
             and not rolsuper and not rolbypassrls
             and pg_has_role(own.oid, case when current_setting('server_version_num')::integer
                                                >= 160000 then 'set' else 'member' end)
             and has_table_privilege(own.oid, 'rag.collection_sources', 'select')
             and exists (select from pg_policy where polrelid = 'rag.chunks'::regclass
                            and polname = 'own_collections')) as has_limited_role;

-- name: set_scope
-- A role of `grant_own_roles` is exchanged for the other one.
select set_config('app.application_id', scope, true),
       case when current_user ~ '^rag_ingest_[0-9]+(_all)?$'
            then set_config('role', regexp_replace(current_user, '_all$', '')
                                    || case scope when '*' then '_all' else '' end, true) end
  from (select %s::text as scope) as wanted;

-- name: begin_scope
-- As the first statement of a transaction; a role of null: none is taken.
select case when wanted.role is not null then set_config('role', wanted.role, true) end,
       set_config('app.application_id', %(scope)s, true)
  from (select %(role)s::text as role) as wanted;
