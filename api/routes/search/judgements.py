"""Relevance judgements: which hits answer a query. `ingest eval` measures searches by them."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Annotated, Any, Final, Literal, TypeVar
from uuid import UUID

from fastapi.responses import StreamingResponse
from pydantic import Field, StringConstraints

from api.authenticated_route import KeyedRouter
from api.dependencies import Editor, PoolDep, Viewer
from api.problems import FieldRejected
from api.schema import pagination, search_filter
from api.schema.json_model import Body, Text, Whole
from api.schema.openapi import problems
from api.schema.pagination import Cursor, Limit, Page
from api.schema.search_filter import Query, SearchFilter
from ingest.errors import NotFound
from ingest.postgres.database import Connection, Pool, transaction
from ingest.search.quotes import best_quote, has_quote
from ingest.store.search import judgements
from ingest.store.search.judgements import JudgedQuery, JudgedQuestion, Judgement, JudgementSet

router = KeyedRouter(prefix="/api/judgements", tags=["search"])

_PART: Final = 500
_MOST_FILTER_BYTES: Final = 4096

R = TypeVar("R")
SetName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)]
Export = Literal["qrels", "queries", "jsonl"]
_MEDIA_TYPES: Final[dict[Export, str]] = {
    "qrels": "text/plain; charset=utf-8",
    "queries": "application/x-ndjson",
    "jsonl": "application/x-ndjson",
}
_FILES: Final[dict[Export, str]] = {
    "qrels": "{}.qrels",
    "queries": "{}.queries.jsonl",
    "jsonl": "{}.jsonl",
}


class NewJudgement(Body):
    set: SetName = "default"
    """The set that it belongs to, which it creates."""
    query: Annotated[Query, Field(max_length=2000)]
    filter: SearchFilter = SearchFilter()
    """That of the search, if it is a part of the question. Up to 4 KiB."""
    chunk_id: UUID
    """The hit."""
    quote: Annotated[Text, Field(max_length=1000)] | None = None
    """Words of the hit that are judged; null: the sentence that answers the query best."""
    grade: Annotated[Whole, Field(ge=0, le=3)]
    """0: no answer; 1 to 3: the higher, the better."""


@router.put("", responses=problems(409))
async def judge(body: NewJudgement, pool: PoolDep, key: Editor) -> Judgement:
    """Say how well a hit answers a query. A later judgement of the same words replaces it.

    It names the document by source and path, and the words that were judged, so it stays right when
    the document is processed again, in chunks of any size. It is deleted with the source.
    """
    query = body.query.strip()
    if not query:
        raise FieldRejected("the query is empty", loc=("body", "query"))

    def quote(content: str) -> str:
        if body.quote is None:
            return best_quote(content, query)
        if not has_quote(content, body.quote):
            raise FieldRejected("these words are not in the hit", loc=("body", "quote"))
        return " ".join(body.quote.split())

    question = JudgedQuestion(set_name=body.set, query=query, filter=_stored(body.filter))
    async with transaction(pool) as conn:
        return await judgements.put(
            conn,
            question,
            application_id=key.application_id,
            chunk_id=body.chunk_id,
            quote=quote,
            grade=body.grade,
            key_id=key.id,
        )


def _stored(filter: SearchFilter) -> dict[str, Any] | None:
    search_filter.parsed(filter)
    stored = filter.model_dump(mode="json", by_alias=True, exclude_none=True)
    if len(json.dumps(stored, ensure_ascii=False).encode()) > _MOST_FILTER_BYTES:
        raise FieldRejected(
            f"larger than {_MOST_FILTER_BYTES} bytes of JSON", loc=("body", "filter")
        )
    return stored or None


@router.get("")
async def list_judgements(
    pool: PoolDep,
    key: Viewer,
    *,
    set: SetName | None = None,
    query: Annotated[Text, Field(max_length=2000)] | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Judgement]:
    """Judgements, newest first; of one set, or of one query with whatever filter."""
    async with transaction(pool) as conn:
        rows = await judgements.list_judgements(
            conn,
            application_id=key.application_id,
            set_name=set,
            query=query,
            limit=limit + 1,
            before=pagination.time_and_id(cursor),
        )
    return pagination.page(rows, limit, key=lambda row: (row.created_at, row.id))


@router.delete("/{id}", status_code=204)
async def delete_judgement(id: UUID, pool: PoolDep, key: Editor) -> None:
    """Take a judgement back."""
    async with transaction(pool) as conn:
        await judgements.delete(conn, application_id=key.application_id, id=id)


sets = KeyedRouter(prefix="/api/judgement-sets", tags=["search"])


@sets.get("")
async def list_judgement_sets(
    pool: PoolDep, key: Viewer, *, limit: Limit = 50, cursor: Cursor = None
) -> Page[JudgementSet]:
    """The sets that have judgements, by name."""
    async with transaction(pool) as conn:
        rows = await judgements.sets(
            conn,
            application_id=key.application_id,
            limit=limit + 1,
            after=pagination.name(cursor),
        )
    return pagination.page(rows, limit, key=lambda row: (row.name,))


@sets.delete("/{name}", status_code=204)
async def delete_judgement_set(name: SetName, pool: PoolDep, key: Editor) -> None:
    """Delete all judgements of a set."""
    async with transaction(pool) as conn:
        await judgements.delete_set(conn, application_id=key.application_id, set_name=name)


@sets.get(
    "/{name}/export",
    response_class=StreamingResponse,
    responses={
        200: {"content": {kind: {"schema": {"type": "string"}} for kind in _MEDIA_TYPES.values()}}
    },
)
async def export_judgement_set(
    name: SetName, pool: PoolDep, key: Viewer, *, format: Export = "jsonl"
) -> StreamingResponse:
    """A set as files that `ingest eval` reads.

    `jsonl`: all judgements, with their words and filters. `qrels` (TREC) and `queries` (JSON lines
    with `_id` and `text`): grades of documents by their ids, the best of each, without questions
    that have a filter and documents that are gone.
    """
    async with transaction(pool) as conn:
        known = await judgements.part(
            conn, application_id=key.application_id, set_name=name, limit=1, after=None
        )
    if not known:
        raise NotFound("set of judgements")
    lines = {"qrels": _qrels, "queries": _queries, "jsonl": _targets}[format]
    return StreamingResponse(
        lines(pool, key.application_id, name),
        media_type=_MEDIA_TYPES[format],
        headers={"Content-Disposition": f'attachment; filename="{_FILES[format].format(name)}"'},
    )


async def _qrels(pool: Pool, application_id: UUID, name: str) -> AsyncIterator[str]:
    async with transaction(pool) as conn:
        grades = await judgements.grades(conn, application_id=application_id, set_name=name)
    yield "".join(
        f"{_question_id(one.question_hash)} 0 {one.document_id} {one.grade}\n" for one in grades
    )


async def _queries(pool: Pool, application_id: UUID, name: str) -> AsyncIterator[str]:
    async def read(conn: Connection, last: JudgedQuery | None) -> Sequence[JudgedQuery]:
        return await judgements.queries(
            conn,
            application_id=application_id,
            set_name=name,
            limit=_PART,
            after=b"" if last is None else last.question_hash,
        )

    async for one in _all(pool, read):
        yield _line({"_id": _question_id(one.question_hash), "text": " ".join(one.query.split())})


async def _targets(pool: Pool, application_id: UUID, name: str) -> AsyncIterator[str]:
    async def read(conn: Connection, last: Judgement | None) -> Sequence[Judgement]:
        return await judgements.part(
            conn,
            application_id=application_id,
            set_name=name,
            limit=_PART,
            after=None if last is None else last.id,
        )

    async for one in _all(pool, read):
        filter = {} if one.filter is None else {"filter": one.filter}
        target = {"document": one.uri, "quote": one.quote, "gain": one.grade}
        id = _question_id(one.question_hash)
        yield _line({"id": id, "query": one.query, **filter, "target": target})


async def _all(
    pool: Pool, read: Callable[[Connection, R | None], Awaitable[Sequence[R]]]
) -> AsyncIterator[R]:
    """All rows, in parts. No connection is held while the client reads."""
    last: R | None = None
    while True:
        async with transaction(pool) as conn:
            rows = await read(conn, last)
        for row in rows:
            yield row
        if len(rows) < _PART:
            return
        last = rows[-1]


def _question_id(hash: bytes) -> str:
    return f"q{hash.hex()[:16]}"


def _line(value: dict[str, Any]) -> str:
    # Without `<`, by which `ingest eval` recognises the topics of TREC.
    return json.dumps(value).replace("<", "\\u003c") + "\n"
