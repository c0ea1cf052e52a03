-- Another embedding model: its vectors are made in the background, then the application changes over.

alter table rag.embedding_models
    -- The settings that build its embedder, without secrets: questions are asked of it until its
    -- documents have vectors of the new model. Empty: not known.
    add column if not exists config jsonb not null default '{}';

create index if not exists documents_model on rag.documents (application_id, embedding_model_id);

-- Documents whose chunks have vectors of another model than the one that they are searched by. An
-- entry holds while the document is unchanged; its chunks and vectors are replaced with it.
create table if not exists rag.reembedded_documents (
    document_id          uuid not null references rag.documents on delete cascade,
    model_id             smallint not null references rag.embedding_models,
    application_id       uuid not null,
    document_updated_at  timestamptz not null,
    primary key (document_id, model_id)
);
create index if not exists reembedded_documents_application
    on rag.reembedded_documents (application_id, model_id);

-- Whether a chunk is searched by this model.
create or replace function rag.is_of_model(chunk_id uuid, model_id integer)
returns boolean
language sql stable parallel safe
as $$
select exists (
    select from rag.chunks as chunk
      join rag.documents as document on document.id = chunk.document_id
     where chunk.id = is_of_model.chunk_id
       and document.embedding_model_id = is_of_model.model_id)
$$;

-- New vectors for the documents of an application, in slices of minutes.
insert into rag.job_types
    (type, handler, max_attempts, timeout, stage_timeout, max_concurrent, is_built_in)
values ('reembed', 'reembed', 10, '30 minutes', '10 minutes', null, true)
on conflict (type) do nothing;
