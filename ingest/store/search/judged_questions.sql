-- name: questions
-- A filter makes another question of the same words.
select query, filter, question_hash, count(*) as judgement_count,
       count(*) filter (where grade > 0) as relevant_count, max(judged_at) as judged_at
  from rag.judgement_views
 where application_id = %(application_id)s and set_name = %(set_name)s
 group by query, filter, question_hash
having %(before_hash)s::bytea is null
    or (max(judged_at), question_hash) < (%(before_time)s, %(before_hash)s)
 order by max(judged_at) desc, question_hash desc
 limit %(limit)s;

-- name: answerable
-- Questions with an answer, and their best answers. The order of the hashes is that of chance, and
-- the same every time: the first questions stand for all.
with question as materialized (
    select question_hash, count(*) over () as question_count
      from rag.judgement_views
     where application_id = %(application_id)s and set_name = %(set_name)s and grade > 0
     group by question_hash
     order by question_hash
     limit %(limit)s)
select question.question_count, question.question_hash, answer.*
  from question
 cross join lateral (
    select query, filter, uri, quote, grade
      from rag.judgement_views as view
     where application_id = %(application_id)s and set_name = %(set_name)s
       and view.question_hash = question.question_hash and grade > 0
     order by grade desc, id
     limit %(most_answers)s) as answer
 order by question.question_hash;
