-- Where the words of pages read by OCR stand.

-- name: drop
delete from rag.page_words where document_id = any(%(document_ids)s);

-- name: insert
insert into rag.page_words (document_id, page, application_id, source_id, words)
select * from unnest(%(document_ids)b::uuid[], %(pages)b::integer[], %(application_ids)b::uuid[],
                     %(source_ids)b::uuid[], %(words)b::bytea[]);
