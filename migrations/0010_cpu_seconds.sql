-- Processor time spent on an application's files, beside its tokens.

alter table rag.token_usage
    -- Of parser processes, and of requests to an embedder that runs in the worker.
    add column if not exists cpu_seconds double precision not null default 0;
