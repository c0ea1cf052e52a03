-- name: database
-- The size is null for a role that may not connect, though it can be taken.
select current_setting('server_version') as version,
       (select extversion from pg_extension where extname = 'vector') as pgvector_version,
       case when has_database_privilege(current_database(), 'connect')
            then pg_database_size(current_database()) end as size_bytes,
       (select max(version) from rag.schema_migrations) as migration;
