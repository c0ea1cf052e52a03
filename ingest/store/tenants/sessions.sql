-- name: add
-- Of the key's other sessions, those that were last used stay.
with surplus as materialized (
    select session_hash from app.sessions
     where session_hash in (
           select session_hash from app.sessions
            where key_id = %(key_id)s or (%(key_id)s::uuid is null and key_id is null)
            order by seen_at desc, created_at desc
           offset %(most)s - 1)
       for update skip locked
), ended as (
    delete from app.sessions where session_hash = any(array(select session_hash from surplus)))
insert into app.sessions (session_hash, application_id, key_id, operator_seal, expires_at)
values (%(session_hash)s, %(application_id)s, %(key_id)s, %(operator_seal)s,
        now() + %(lifetime)s);

-- name: find
-- What the key may do is read from its row each time; a revoked key ends its sessions.
select session.session_hash, session.application_id, session.key_id, session.operator_seal,
       coalesce(api_key.role, 'admin') as role, api_key.key_hash,
       case when api_key.is_limited then array(select collection_id from app.api_key_collections
                                                where key_id = api_key.id) end as collection_ids,
       session.seen_at < now() - %(precision)s::interval as is_stale
  from app.sessions as session
  left join app.api_keys as api_key on api_key.id = session.key_id
 where session.session_hash = %(session_hash)s
   and session.expires_at > now() and session.seen_at > now() - %(idle)s::interval
   and api_key.revoked_at is null;

-- name: touch
update app.sessions set seen_at = now() where session_hash = %(session_hash)s;

-- name: end
delete from app.sessions where session_hash = %(session_hash)s;

-- name: ends_at
select least(expires_at, seen_at + %(idle)s::interval) as ends_at
  from app.sessions where session_hash = %(session_hash)s;

-- name: forget
-- A session that may no longer be seen is idle soon.
with old as materialized (
    select session_hash from app.sessions
     where seen_at < now() - %(idle)s::interval
     order by seen_at limit %(limit)s
       for update skip locked)
delete from app.sessions where session_hash = any(array(select session_hash from old));

-- name: add_code
insert into app.sign_in_codes (code_hash, application_id, operator_seal, expires_at)
values (%(code_hash)s, %(application_id)s, %(operator_seal)s, now() + %(lifetime)s)
returning expires_at;

-- name: redeem_code
-- Deletes the code, so that it works only once.
delete from app.sign_in_codes
 where code_hash = %(code_hash)s and expires_at > now()
returning operator_seal;

-- name: forget_codes
delete from app.sign_in_codes where expires_at < now();
