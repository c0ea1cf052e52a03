-- What is left out of the pages of a site because it repeats on them.

-- name: sample
-- Pages in an order that has nothing to do with what they say, so that the first ones are a sample.
select md5(document.uri) as position, document.uri, document.text, document.furniture
  from rag.documents as document
 where document.source_id = %(source_id)s and md5(document.uri) > %(after)s
   and document.deleted_at is null and document.media_type = any(%(media_types)s)
   and length(document.text) <= %(longest)s
 order by md5(document.uri)
 limit %(limit)s;

-- name: known
select blocks from rag.site_furniture where source_id = %(source_id)s;

-- name: is_due
-- Before the first decision, and once there are enough pages.
select not exists (select 1 from rag.site_furniture where source_id = %(source_id)s)
   and (select count(*) from (
            select 1 from rag.documents
             where source_id = %(source_id)s and deleted_at is null limit %(pages)s) as stored)
       >= %(pages)s;

-- name: save
insert into rag.site_furniture (source_id, application_id, blocks, digest)
values (%(source_id)s, %(application_id)s, %(blocks)s, %(digest)s)
on conflict (source_id) do update
   set blocks = excluded.blocks, digest = excluded.digest, decided_at = now();
