-- name: lock
-- Held until the end of the transaction. A separate statement, so that the next one sees what the
-- previous holder committed.
select pg_advisory_xact_lock(hashtextextended(%(application_id)s::uuid || %(key)s::text, 7245110387));

-- name: set_lock_timeout
-- The wait is limited because a waiting request occupies a pool connection.
select set_config('lock_timeout', '10000', true);

-- name: reset_lock_timeout
select set_config('lock_timeout', '0', true);

-- name: replay
select request_hash, status, response from rag.idempotency_keys
 where application_id = %(application_id)s and key = %(key)s;

-- name: remember
insert into rag.idempotency_keys (application_id, key, request_hash, status, response)
values (%(application_id)s, %(key)s, %(request_hash)s, %(status)s, %(response)s);

-- name: forget_answers
-- Skips rows that another process is removing.
delete from rag.idempotency_keys as answer
 using (select application_id, key
          from rag.idempotency_keys
         where created_at < now() - %(older_than)s::interval
         order by created_at
         limit %(limit)s
           for update skip locked) as old
 where answer.application_id = old.application_id and answer.key = old.key;
