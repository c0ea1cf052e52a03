-- The cache of pictures of pages. It is the only lock of its transactions.

-- name: find
select image.blob_key, image.size_bytes, image.used_at < now() - interval '1 hour' as is_stale
  from rag.page_images as image
 where image.document_id = %(document_id)s and image.page = %(page)s and image.width = %(width)s
   and image.content_hash = %(content_hash)s;

-- name: touch
update rag.page_images set used_at = now()
 where document_id = %(document_id)s and page = %(page)s and width = %(width)s;

-- name: replaced
-- The blob whose place the next statement takes.
select image.blob_key
  from rag.page_images as image
 where image.document_id = %(document_id)s and image.page = %(page)s and image.width = %(width)s
   for update;

-- name: put
-- Nothing if the document has been deleted or replaced meanwhile.
insert into rag.page_images
    (document_id, page, width, application_id, source_id, content_hash, blob_key, size_bytes)
select document.id, %(page)s, %(width)s, document.application_id, document.source_id,
       document.content_hash, %(blob_key)s, %(size_bytes)s
  from rag.documents as document
 where document.id = %(document_id)s and document.application_id = %(application_id)s
   and document.content_hash = %(content_hash)s
on conflict (document_id, page, width) do update
   set content_hash = excluded.content_hash, blob_key = excluded.blob_key,
       size_bytes = excluded.size_bytes, used_at = now()
returning blob_key;

-- name: evict
-- Those beyond the budget, the longest unused first. Each counts as 16 kB more, so that the cache has
-- a bounded number of rows.
with ranked as materialized (
    select image.blob_key,
           sum(image.size_bytes + 16384) over (order by image.used_at desc, image.blob_key) as total
      from rag.page_images as image
), extra as materialized (
    select image.blob_key
      from rag.page_images as image
     where image.blob_key in (select blob_key from ranked where total > %(budget)s
                               order by total desc limit %(limit)s)
       for update skip locked)
delete from rag.page_images as image
 using extra
 where image.blob_key = extra.blob_key
returning image.blob_key;

-- name: referenced_blobs
select blob_key from rag.page_images where blob_key = any(%(keys)s);
