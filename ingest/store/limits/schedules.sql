-- name: now
select clock_timestamp();

-- name: fire
insert into rag.schedules (name, scheduled_for) values (%(name)s, %(scheduled_for)s)
on conflict do nothing;

-- name: forget_old
delete from rag.schedules where scheduled_for < now() - interval '7 days';
