-- Per-host rate limits and robots.txt, shared by all workers.

-- name: robots
select robots_status as status, robots_body as body, now() - robots_fetched_at as age
  from rag.crawl_origins
 where origin = %(origin)s and robots_fetched_at is not null;

-- name: save_robots
insert into rag.crawl_origins (origin, robots_status, robots_body, robots_fetched_at, crawl_delay)
values (%(origin)s, %(status)s, %(body)s, now(), %(delay)s)
on conflict (origin) do update
   set robots_status = excluded.robots_status, robots_body = excluded.robots_body,
       robots_fetched_at = excluded.robots_fetched_at, crawl_delay = excluded.crawl_delay;

-- name: add_origin
insert into rag.crawl_origins (origin) values (%(origin)s) on conflict do nothing;

-- name: lock_origin
-- `next_request_at` may be -infinity, which Postgres before 17 cannot subtract; greatest() helps.
select extract(epoch from greatest(next_request_at, now()) - now())::float8 as wait,
       coalesce(extract(epoch from crawl_delay)::float8, %(delay)s::float8) as delay, fetch_seconds
  from rag.crawl_origins where origin = %(origin)s
   for no key update;

-- name: free_expired
delete from rag.crawl_slots where origin = %(origin)s and expires_at < now();

-- name: count_slots
-- Slots of other jobs only: our own may be left over from an interrupted attempt.
select count(*) from rag.crawl_slots where origin = %(origin)s and job_id <> %(job_id)s;

-- name: add_slot
insert into rag.crawl_slots (job_id, origin, expires_at)
values (%(job_id)s, %(origin)s, now() + %(for_at_most)s::interval)
on conflict (job_id) do update set origin = excluded.origin, expires_at = excluded.expires_at;

-- name: set_next_start
update rag.crawl_origins
   set next_request_at = greatest(next_request_at, now()) + %(delay)s::float8 * interval '1 second'
 where origin = %(origin)s;

-- name: next_turn
-- Staggers the pages of a crawl that find their host busy, so that they do not all return at once.
update rag.crawls
   set host_queue_until =
           greatest(host_queue_until, now()) + %(spacing)s::float8 * interval '1 second'
 where id = %(crawl_id)s
returning extract(epoch from host_queue_until - now())::float8 as seconds;

-- name: release
with held as materialized (
    select origin.origin
      from rag.crawl_slots as slot
      join rag.crawl_origins as origin on origin.origin = slot.origin
     where slot.job_id = %(job_id)s
       for no key update of origin
), freed as (
    delete from rag.crawl_slots as slot using held
     where slot.job_id = %(job_id)s and slot.origin = held.origin
    returning slot.origin)
update rag.crawl_origins as origin
   set fetch_seconds = origin.fetch_seconds * 0.8 + %(took)s::float8 * 0.2,
       next_request_at = greatest(origin.next_request_at, now() + %(pause)s::interval)
  from freed
 where origin.origin = freed.origin;

-- name: forget_origins
delete from rag.crawl_origins as origin
 where coalesce(robots_fetched_at, '-infinity') < now() - interval '7 days'
   and next_request_at < now() - interval '7 days'
   and not exists (select 1 from rag.crawl_slots as slot where slot.origin = origin.origin);
