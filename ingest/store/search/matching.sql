-- name: begin
select set_config('statement_timeout', %(timeout_ms)s, true), set_config('jit', 'off', true),
       set_config('max_parallel_workers_per_gather', '0', true);

-- name: documents
-- Documents that pass the filter, with their chunks. It ends at `most`, so that a filter which lets
-- much pass costs little.
select document.id, document.chunk_count
  from rag.knowledge_sources as source
  join rag.documents as document
    on document.source_id = source.id and document.deleted_at is null
 where source.application_id = %(application_id)s and source.deleted_at is null
   and document.application_id = %(application_id)s and {passes}
 limit %(most)s;
