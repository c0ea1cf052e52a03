-- name: passage
-- The chunk that is judged. Its source cannot be purged until the transaction ends.
select source.id as source_id, document.uri, chunk.page, chunk.content
  from rag.chunks as chunk
  join rag.documents as document
    on document.id = chunk.document_id and document.deleted_at is null
  join rag.knowledge_sources as source
    on source.id = chunk.source_id and source.deleted_at is null
 where chunk.id = %(chunk_id)s and chunk.application_id = %(application_id)s
   for key share of source;

-- name: are_many
-- Whether there are more than `most`.
select exists (select from rag.judgements where application_id = %(application_id)s
               offset %(most)s) as are_many;

-- name: put
-- A later judgement of the same passage replaces the earlier one.
insert into rag.judgements
    (id, application_id, set_name, query, filter, question_hash, source_id, uri, quote, page,
     grade, key_id)
values (%(id)s, %(application_id)s, %(set_name)s, %(query)s, %(filter)s, %(question_hash)s,
        %(source_id)s, %(uri)s, %(quote)s, %(page)s, %(grade)s, %(key_id)s)
on conflict (application_id, set_name, question_hash, source_id, md5(uri), md5(quote)) do update
   set grade = excluded.grade, page = excluded.page, key_id = excluded.key_id, judged_at = now()
returning id, xmax = 0 as is_new;

-- name: list
select * from rag.judgement_views
 where application_id = %(application_id)s
   and (%(id)s::uuid is null or id = %(id)s)
   and (%(set_name)s::text is null or set_name = %(set_name)s)
   and (%(query)s::text is null or query = %(query)s)
   and (%(before_id)s::uuid is null
        or (created_at, id) < (%(before_time)s, %(before_id)s))
 order by created_at desc, id desc
 limit %(limit)s;

-- name: delete
delete from rag.judgements where application_id = %(application_id)s and id = %(id)s;

-- name: delete_set
-- Those that another transaction holds are judged anew, or deleted with their source.
delete from rag.judgements
 where id in (select id from rag.judgements
               where application_id = %(application_id)s and set_name = %(set_name)s
                 for update skip locked);

-- name: sets
select set_name as name, count(distinct question_hash) as question_count,
       count(*) as judgement_count, count(*) filter (where grade > 0) as relevant_count,
       max(judged_at) as judged_at
  from rag.judgement_views
 where application_id = %(application_id)s and set_name > %(after)s
 group by set_name
 order by set_name
 limit %(limit)s;

-- name: grades
-- The best grade of each document. Qrels know no filters, so questions with one are left out.
select question_hash, document_id, max(grade) as grade
  from rag.judgement_views
 where application_id = %(application_id)s and set_name = %(set_name)s
   and filter is null and document_id is not null
 group by question_hash, document_id
 order by question_hash, document_id;

-- name: queries
select distinct on (question_hash) question_hash, query
  from rag.judgement_views
 where application_id = %(application_id)s and set_name = %(set_name)s
   and filter is null and document_id is not null and question_hash > %(after)s
 order by question_hash
 limit %(limit)s;

-- name: part
-- Judgements in the order of their ids.
select * from rag.judgement_views
 where application_id = %(application_id)s and set_name = %(set_name)s
   and (%(after)s::uuid is null or id > %(after)s)
 order by id
 limit %(limit)s;
