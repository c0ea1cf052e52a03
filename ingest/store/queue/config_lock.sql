-- name: exclusive
select pg_advisory_xact_lock(7245110386);
