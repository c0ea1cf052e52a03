-- Formats: archives and attachments, chunks that know their section, chunk settings of one's own.

alter table rag.documents
    -- Where the pages are in the text: [[number, start, end], …]. Null: it has none, or it was
    -- stored by a version before and must be read again to be cut by page.
    add column pages     jsonb,
    -- How it was cut. Null: by a version before.
    add column chunking  jsonb,
    -- Of a file inside of an archive or message: the root job whose run has seen it last.
    add column seen_by   uuid;

alter table rag.chunks
    -- The last page that the chunk reaches. Null: no pages, or stored by a version before.
    add column page_end       integer,
    -- The section around the chunk, in characters of the document's text.
    add column section_start  integer,
    add column section_end    integer;

alter table rag.knowledge_sources
    -- What the source has set for itself of size, overlap and split; the rest is its application's.
    add column chunking  jsonb not null default '{}';

insert into rag.job_types
    (type, handler, max_attempts, timeout, stage_timeout, max_concurrent, is_built_in) values
    ('archive', 'archive', 3, '30 minutes', '10 minutes', null, true),
    -- A file inside of a file. Not `file`: workers of the version before would take it for the whole.
    ('member', 'member', 5, '30 minutes', '10 minutes', null, true),
    -- Reads no file and is urgent to nobody.
    ('rechunk', 'rechunk', 5, '30 minutes', '10 minutes', null, true);
