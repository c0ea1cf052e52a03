-- name: outdated
-- Tables that have doubled, or whose rows were written once more on average, since the planner's
-- statistics were made. -1 rows: they were never made.
select counted.schemaname as schema, counted.relname as table
  from pg_stat_user_tables as counted
  join pg_class as class on class.oid = counted.relid
 where counted.schemaname in ('rag', 'app')
   and counted.n_mod_since_analyze > %(least)s + greatest(class.reltuples, 0)
 order by schema, "table";

-- name: analyze
-- Not while another session changes the table's indexes: it may wait for us, too.
analyze (skip_locked) {table};
