-- Documents, their chunks, and the vectors of the chunks.

create table rag.documents (
    id                  uuid primary key,
    application_id      uuid not null references app.applications on delete cascade,
    source_id           uuid not null references rag.knowledge_sources on delete cascade,
    -- Path, path inside the uploaded file, or URL of a page in normal form.
    uri                 text not null,
    title               text,
    media_type          text not null,
    status              text not null check (status in ('completed', 'partial', 'failed')),
    error_code          text,
    content_hash        bytea not null,
    -- Markdown.
    text                text not null,
    -- Page ranges of the text: [[number, start, end], …]; empty for formats without pages.
    pages               jsonb not null default '[]',
    -- Extractor and its version.
    extractor           text not null,
    -- Null for binary formats.
    encoding            jsonb,
    coverage            jsonb not null,
    metadata            jsonb not null default '{}',
    warnings            text[] not null default '{}',
    chunk_count         integer not null,
    token_count         bigint not null,
    -- The settings it was chunked with; it is rechunked when they differ from those in force.
    chunking            jsonb not null,
    -- The model of its chunks' vectors; a document with another model is embedded again.
    embedding_model_id  smallint not null,
    -- Pages only: validators for the next conditional request.
    etag                text,
    last_modified       text,
    -- Pages only: digest of the text. Equal text is not processed again, whatever the markup.
    text_hash           bytea,
    -- Pages only: links to follow when the page is unchanged or cannot be read.
    links               text[] not null default '{}',
    -- URL pattern shared by generated pages of one kind (by query, by date). Null: no siblings.
    url_pattern         text,
    -- A new version that awaits review: the job that made it. Until it is published, the row is
    -- hidden by `deleted_at` and has another uri.
    held_by_job_id      uuid,
    -- A file inside an archive or message: the root job of the last run that found it.
    last_seen_job_id    uuid,
    created_at          timestamptz not null default now(),
    updated_at          timestamptz not null default now(),
    deleted_at          timestamptz
);
create unique index documents_identity on rag.documents (source_id, md5(uri));
create index documents_source on rag.documents (source_id, id);
create index documents_url_pattern on rag.documents (source_id, md5(url_pattern))
    where url_pattern is not null;
create index documents_text_hash on rag.documents (source_id, text_hash)
    where text_hash is not null;
create index documents_held on rag.documents (held_by_job_id) where held_by_job_id is not null;
create index documents_deleted on rag.documents (deleted_at) where deleted_at is not null;

create table rag.chunks (
    id              uuid primary key,
    application_id  uuid not null,
    source_id       uuid not null,
    document_id     uuid not null references rag.documents on delete cascade,
    ordinal         integer not null,
    content         text not null,
    content_hash    bytea not null,
    token_count     integer not null,
    -- Path of headings above the chunk, outermost first.
    headings        text[] not null default '{}',
    -- First and last page, 1-based; null for formats without pages.
    page            integer,
    page_end        integer,
    -- Ranges of the document's text: the chunk, and the section around it.
    char_start      integer not null,
    char_end        integer not null,
    section_start   integer not null,
    section_end     integer not null,
    -- Text for the keyword index if it differs from the content: languages without spaces.
    keywords        text,
    tsv             tsvector
        generated always as (to_tsvector('english', coalesce(keywords, content))) stored
);
create unique index chunks_document on rag.chunks (document_id, ordinal);
create index chunks_source on rag.chunks (source_id, id);
create index chunks_content_hash on rag.chunks (application_id, content_hash);
create index chunks_tsv on rag.chunks using gin (tsv);

create table rag.embedding_models (
    id          smallint generated always as identity primary key,
    provider    text not null,
    name        text not null,
    dimension   integer not null check (dimension between 1 and 4000),
    distance    text not null default 'cosine' check (distance = 'cosine'),
    created_at  timestamptz not null default now(),
    unique (provider, name, dimension)
);

-- One table for all models. Each model has its own partial HNSW index, created when the model is
-- registered (ingest/store/documents/embedding_models.py).
create table rag.embeddings (
    chunk_id        uuid not null references rag.chunks on delete cascade,
    model_id        smallint not null references rag.embedding_models,
    application_id  uuid not null,
    embedding       vector not null,
    primary key (chunk_id, model_id)
);
create index embeddings_application on rag.embeddings (model_id, application_id);

-- New vectors, until the indexer moves them under the HNSW index. `rag.embeddings` includes these
-- rows; `only rag.embeddings` is what the HNSW indexes cover. Inherited, not a partition: routing
-- would need a column that says where a row belongs.
create table rag.embeddings_fresh (
    primary key (chunk_id, model_id),
    foreign key (chunk_id) references rag.chunks on delete cascade,
    foreign key (model_id) references rag.embedding_models
) inherits (rag.embeddings) with (
    -- Searches read the whole table and its rows leave soon: vacuum early, often, at full speed.
    autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0.02
);
-- In the row while it fits into a page: reading each from a TOAST table takes three times as long.
alter table rag.embeddings_fresh alter column embedding set storage main;
create index embeddings_fresh_application on rag.embeddings_fresh (model_id, application_id);

-- Vectors already paid for by a job that has not completed.
create table rag.embedding_cache (
    application_id  uuid not null references app.applications on delete cascade,
    model_id        smallint not null references rag.embedding_models,
    text_hash       bytea not null,
    embedding       vector not null,
    created_at      timestamptz not null default now(),
    primary key (application_id, model_id, text_hash)
);
create index embedding_cache_age on rag.embedding_cache (created_at);
