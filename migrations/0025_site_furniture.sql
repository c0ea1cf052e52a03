-- Furniture of sites: blocks that repeat at the edges of a site's pages and are left out of their text.

-- What the last run decided, at most 500 blocks of a source (ingest/web/furniture.py).
create table rag.site_furniture (
    source_id       uuid primary key references rag.knowledge_sources on delete cascade,
    application_id  uuid not null references app.applications on delete cascade,
    -- [[key, uri of the page that keeps the block, or ''], …]
    blocks          jsonb not null,
    -- Of `blocks`, as in the `chunking` of documents; null: none.
    digest          text,
    decided_at      timestamptz not null default now()
);

-- Parts left out of `text`: [[where in the text, the part], …]. With them it is as it was extracted,
-- and `text_hash` is of that: a decision about furniture is no change of the page.
alter table rag.documents add column furniture jsonb not null default '[]';
