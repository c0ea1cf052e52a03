-- name: similarities
-- A zero vector has the distance NaN and is left out.
select chunk_id as id, 1 - (embedding <=> %(vector)s::vector) as score
  from rag.embeddings
 where chunk_id = any(%(ids)s) and model_id = %(model_id)s
   and application_id = %(application_id)s and (embedding <=> %(vector)s::vector) <= 2;
