-- Which sections a chunk contains, so that a hit can name that of its match.

-- Sections that begin after the chunk's start: [[start, kept, heading], …], as in Chunk of
-- ingest/model.py. Null: chunked before this column existed.
alter table rag.chunks add column sections jsonb;
