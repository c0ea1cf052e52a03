-- name: remembered
-- One process at a time; `now` is the database's clock, the same for all.
select value, extract(epoch from now())::float8 as now
  from rag.worker_config where key = 'scaling'
   for update;

-- name: begin
insert into rag.worker_config (key, value) values ('scaling', 'null') on conflict do nothing;

-- name: remember
update rag.worker_config set value = %(value)s, updated_at = now() where key = 'scaling';
