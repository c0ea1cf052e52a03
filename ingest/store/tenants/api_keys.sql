-- name: find_key
select id, application_id, role,
       case when is_limited then array(select collection_id from app.api_key_collections
                                        where key_id = api_keys.id) end as collection_ids,
       coalesce(last_used_at < now() - interval '1 hour', true) as is_use_due
  from app.api_keys
 where key_hash = %(key_hash)s and revoked_at is null;

-- name: note_use
-- Checked again: of many requests at once, one writes.
update app.api_keys set last_used_at = now()
 where id = %(id)s and coalesce(last_used_at < now() - interval '1 hour', true);

-- name: is_key_live
select exists (select 1 from app.api_keys where id = %(id)s and revoked_at is null);

-- name: name_of
select name from app.api_keys where id = %(id)s;

-- name: add_key
-- Inserts nothing if the application does not exist.
insert into app.api_keys (id, application_id, name, role, prefix, key_hash, is_limited)
select %(id)s, application.id, %(name)s, %(role)s, %(prefix)s, %(key_hash)s,
       %(collection_ids)s::uuid[] is not null
  from app.applications as application
 where application.id = %(application_id)s
returning id, application_id, name, role, prefix, created_at, last_used_at, revoked_at,
          %(collection_ids)s::uuid[] as collection_ids;

-- name: limit_key
insert into app.api_key_collections (key_id, collection_id, application_id)
select %(key_id)s, given.id, %(application_id)s from unnest(%(collection_ids)b::uuid[]) as given(id);

-- name: list_keys
select id, application_id, name, role, prefix, created_at, last_used_at, revoked_at,
       case when is_limited then array(select collection_id from app.api_key_collections
                                        where key_id = api_keys.id) end as collection_ids
  from app.api_keys
 where application_id = %(application_id)s
   and (%(before_id)s::uuid is null or (created_at, id) < (%(before_time)s, %(before_id)s))
 order by created_at desc, id desc
 limit %(limit)s;

-- name: revoke_key
update app.api_keys set revoked_at = now()
 where application_id = %(application_id)s and id = %(id)s and revoked_at is null;

-- name: add_ticket
insert into app.tickets (ticket_hash, application_id, key_id, session_hash, role, expires_at)
values (%(ticket_hash)s, %(application_id)s, %(key_id)s, %(session_hash)s, %(role)s,
        now() + %(lifetime)s)
returning expires_at;

-- name: redeem_ticket
-- Deletes the ticket, so that it works only once. A ticket of a revoked key does not work.
delete from app.tickets as ticket
 where ticket.ticket_hash = %(ticket_hash)s and ticket.expires_at > now()
   and not exists (select 1 from app.api_keys as api_key
                    where api_key.id = ticket.key_id and api_key.revoked_at is not null)
returning ticket.application_id, ticket.role, ticket.key_id, ticket.session_hash,
          (select key_hash from app.api_keys where id = ticket.key_id) as key_hash,
          (select array(select collection_id from app.api_key_collections
                         where key_id = ticket.key_id)
             from app.api_keys where id = ticket.key_id and is_limited) as collection_ids;

-- name: forget_tickets
delete from app.tickets where expires_at < now();
