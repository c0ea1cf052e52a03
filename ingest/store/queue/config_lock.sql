-- name: shared
select pg_advisory_xact_lock_shared(7245110386);

-- name: exclusive
select pg_advisory_xact_lock(7245110386);
