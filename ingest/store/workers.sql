-- name: register
insert into rag.workers (id, host, pid) values (%(id)s, %(host)s, %(pid)s);

-- name: renew
update rag.workers
   set heartbeat_at = now(), running = %(running)s, draining = %(draining)s
 where id = %(id)s;

-- name: deregister
delete from rag.workers where id = %(id)s;

-- name: forget_silent
-- Long after their jobs were recovered.
delete from rag.workers where heartbeat_at < now() - interval '1 day';
