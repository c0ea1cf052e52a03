-- name: replay
select request_hash, response from rag.idempotency_keys
 where application_id = %(application_id)s and key = %(key)s;

-- name: remember
insert into rag.idempotency_keys (application_id, key, request_hash, response)
values (%(application_id)s, %(key)s, %(request_hash)s, %(response)s);

-- name: forget_answers
delete from rag.idempotency_keys where created_at < now() - interval '7 days';
