-- name: register
insert into rag.workers (id, host, pid, slots) values (%(id)s, %(host)s, %(pid)s, %(slots)s);

-- name: renew
update rag.workers
   set heartbeat_at = now(), running = %(running)s, draining = %(draining)s
 where id = %(id)s;

-- name: deregister
-- Deletes the row and records when a worker was last alive.
with gone as (delete from rag.workers where id = %(id)s returning id)
insert into rag.worker_config (key, value)
select 'worker_seen', to_jsonb(extract(epoch from now())) from gone
on conflict (key) do update set value = excluded.value, updated_at = now();

-- name: forget_silent
-- Their jobs were recovered long before.
with gone as (
    delete from rag.workers where heartbeat_at < now() - interval '1 day' returning heartbeat_at
), seen as (
    insert into rag.worker_config (key, value)
    select 'worker_seen', to_jsonb(extract(epoch from max(heartbeat_at))) from gone
    having count(*) > 0
    on conflict (key) do update
       set value = greatest(excluded.value, worker_config.value), updated_at = now())
select count(*) from gone;

-- name: list
-- Newest first. `is_alive`: by the database's clock.
select id, host, pid, started_at, heartbeat_at, running, slots, draining as is_draining,
       heartbeat_at > now() - %(stale_after)s::interval as is_alive,
       extract(epoch from now() - heartbeat_at)::float8 as silent_seconds
  from rag.workers
 where %(before_id)s::uuid is null
       or (started_at, id) < (%(before_time)s::timestamptz, %(before_id)s::uuid)
 order by started_at desc, id desc
 limit %(limit)s;

-- name: summary
-- `silent_seconds`: since any worker was alive, including deregistered ones; null if none ever was.
select count(*) filter (where is_alive) as alive,
       count(*) filter (where is_alive and draining) as draining,
       coalesce(sum(running) filter (where is_alive), 0) as running,
       case when bool_or(is_alive) then 0.0
            else extract(epoch from now() - greatest(max(heartbeat_at), max(goodbye.at)))::float8
        end as silent_seconds,
       coalesce(bool_or(is_alive and host = %(host)s and pid = %(pid)s), false) as is_here
  from (select to_timestamp(max(value::float8)) as at
          from rag.worker_config where key = 'worker_seen') as goodbye
  left join (select *, heartbeat_at > now() - %(stale_after)s::interval as is_alive
               from rag.workers) as worker on true;
