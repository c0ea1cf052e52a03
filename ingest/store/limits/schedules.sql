-- name: now
select clock_timestamp();

-- name: fire
insert into rag.schedules (name, scheduled_for) values (%(name)s, %(scheduled_for)s)
on conflict do nothing;

-- name: last_firings
-- One look into the index per name: a week of firings is hundreds of thousands of rows.
with recursive named(name) as (
    (select name from rag.schedules order by name limit 1)
    union all
    select (select later.name from rag.schedules as later
             where later.name > named.name order by later.name limit 1)
      from named
     where named.name is not null)
select named.name, latest.scheduled_for, latest.fired_at
  from named
 cross join lateral (
    select firing.scheduled_for, firing.fired_at from rag.schedules as firing
     where firing.name = named.name
     order by firing.scheduled_for desc limit 1) as latest
 where named.name is not null
 order by named.name
 limit 100;

-- name: forget_old
delete from rag.schedules where scheduled_for < now() - interval '7 days';
