-- name: lock_sources
-- Held until the end of the transaction.
select pg_advisory_xact_lock(hashtextextended(%(application_id)s::uuid::text, 7245110383));

-- name: default_id
select id from app.applications where is_default;
