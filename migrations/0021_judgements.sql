-- Relevance judgements of search hits (qrels), for `ingest eval`.

create table rag.judgements (
    id              uuid primary key,
    application_id  uuid not null references app.applications on delete cascade,
    set_name        text not null,
    query           text not null,
    -- `filter` of the search request; null: none.
    filter          jsonb,
    -- SHA-256 of query and filter.
    question_hash   bytea not null,
    -- The document. Its id and those of its chunks change when it is processed again; these do not.
    source_id       uuid not null references rag.knowledge_sources on delete cascade,
    uri             text not null,
    -- The sentence that was judged: short, so that it is in one chunk, whatever their size.
    quote           text not null,
    page            integer,
    -- 0: no answer; above: the higher, the better.
    grade           smallint not null check (grade between 0 and 3),
    -- The API key of who judged; null: the operator.
    key_id          uuid,
    created_at      timestamptz not null default now(),
    judged_at       timestamptz not null default now()
);
create unique index judgements_identity on rag.judgements
    (application_id, set_name, question_hash, source_id, md5(uri), md5(quote));
create index judgements_list on rag.judgements (application_id, created_at desc, id desc);
create index judgements_source on rag.judgements (source_id);

-- Of sources that are not deleted, with the document as it is now; without one if it is gone.
create view rag.judgement_views as
select judgement.id, judgement.application_id, judgement.set_name, judgement.query,
       judgement.filter, judgement.question_hash,
       judgement.source_id as knowledge_source_id, document.id as document_id, judgement.uri,
       judgement.quote, judgement.page, judgement.grade, key.name as judged_by,
       judgement.created_at, judgement.judged_at
  from rag.judgements as judgement
  join rag.knowledge_sources as source
    on source.id = judgement.source_id and source.deleted_at is null
  left join rag.documents as document
    on document.source_id = judgement.source_id and md5(document.uri) = md5(judgement.uri)
   and document.uri = judgement.uri and document.deleted_at is null
  left join app.api_keys as key on key.id = judgement.key_id;

-- Of an earlier form of filters; nothing calls it.
drop function if exists rag.passes_filter(uuid, jsonb, uuid[], jsonb);
