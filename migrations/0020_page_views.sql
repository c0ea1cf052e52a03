-- Where words stand on pages, and pictures of pages.

-- Of pages read by OCR only: a text layer is in the file. Replaced together with the document.
create table rag.page_words (
    document_id     uuid not null references rag.documents on delete cascade,
    page            integer not null,
    application_id  uuid not null,
    source_id       uuid not null,
    -- Packed and compressed (ingest/page_words.py).
    words           bytea not null,
    primary key (document_id, page)
);
-- It is compressed already.
alter table rag.page_words alter column words set storage external;

-- The cache of pictures in the blob store. A row whose hash is not that of the document any more is
-- replaced when the page is shown again.
create table rag.page_images (
    document_id     uuid not null references rag.documents on delete cascade,
    page            integer not null,
    -- Pixels, as asked for.
    width           integer not null,
    application_id  uuid not null,
    source_id       uuid not null,
    content_hash    bytea not null,
    blob_key        text not null,
    size_bytes      integer not null,
    -- Written once an hour at most.
    used_at         timestamptz not null default now(),
    primary key (document_id, page, width)
);
create index page_images_blob on rag.page_images (blob_key);
create index page_images_source on rag.page_images (source_id);
create index page_images_used on rag.page_images (used_at desc, blob_key) include (size_bytes);
