"""Search chunks: by meaning, by keywords, or by both."""

from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter
from pydantic import BeforeValidator, Field, WithJsonSchema

from api.authenticated_route import AuthenticatedRoute
from api.dependencies import Reader, RuntimeDep
from api.middleware.in_use import InUseDep
from api.problems import FieldRejected
from api.schema.json_model import Body, Metadata, Whole, storable
from ingest.filters.model import Filter
from ingest.filters.parse import FilterRefused, parse, refuse_operators
from ingest.search.search import Mode, Question, search
from ingest.store.search.hits import SearchHit
from ingest.store.search.scope import SearchScope
from ingest.store.view import View

router = APIRouter(route_class=AuthenticatedRoute, tags=["search"])


def _not_blank(value: Any) -> Any:
    if isinstance(value, str):
        if not value.strip():
            raise ValueError("the query is empty")
        return storable(value)
    return value


Where = Annotated[
    Metadata,
    WithJsonSchema(
        {
            "type": "object",
            "description": "By field, a value or operators (`eq ne gt gte lt lte in nin exists "
            "prefix glob`) with their values; `and` and `or` with lists of filters, `not` with one",
            "examples": [{"metadata.year": {"gte": 2025}, "not": {"mediaType": "text/html"}}],
        }
    ),
]


class SearchFilter(Body):
    """What a hit must be; all members must hold."""

    knowledge_source_ids: Annotated[list[UUID], Field(max_length=1000)] | None = None
    collection_ids: Annotated[list[UUID], Field(max_length=1000)] | None = None
    """Only sources in one of these collections."""
    metadata: Metadata | None = None
    """Only sources whose metadata contain this object, as it is."""
    where: Where | None = None
    """Conditions on fields of documents and sources, see docs/api.md."""


class SearchRequest(Body):
    query: Annotated[str, BeforeValidator(_not_blank), Field(max_length=8000)]
    limit: Annotated[Whole, Field(ge=1, le=100)] = 10
    mode: Mode = "hybrid"
    filter: SearchFilter = SearchFilter()


class SearchHits(View):
    hits: list[SearchHit]
    degraded: list[Literal["vector"]] = Field(default_factory=list)
    """What a hybrid search lacked: `vector`, while the embedding provider does not respond."""
    degraded_reason: str | None = None
    """The error code and the provider's message."""


@router.post("/api/search")
async def search_chunks(
    body: SearchRequest, runtime: RuntimeDep, key: Reader, in_use: InUseDep
) -> SearchHits:
    """The best chunks, best first. `hybrid` weights both rankings equally.

    A score is the cosine similarity (`vector`), 1 to 2 for all words and 0 to 1 for some of them
    (`keyword`), or the mean of both scores relative to the best of their kind (`hybrid`).

    A search waits at most 5 seconds for the embedding provider. Without it, `hybrid` returns the
    hits and scores of `keyword` with `"degraded": ["vector"]`; `vector` is answered with 503 and
    the code of the cause.
    """
    filter = _parsed(body.filter)
    if not body.query.strip():
        return SearchHits(hits=[])  # only characters that are never stored
    with in_use.limited("searches", key):
        answer = await search(
            Question(text=body.query, mode=body.mode, limit=body.limit),
            SearchScope(
                application_id=key.application_id,
                source_ids=body.filter.knowledge_source_ids,
                collection_ids=body.filter.collection_ids,
                visible_in=key.collection_ids,
                metadata=body.filter.metadata,
                filter=filter,
            ),
            runtime.search_parts,
        )
    hits = list(answer.hits)
    lack = answer.lacks_vector
    if lack is None:
        return SearchHits(hits=hits)
    return SearchHits(hits=hits, degraded=["vector"], degraded_reason=f"{lack.code}: {lack}")


def _parsed(given: SearchFilter) -> Filter | None:
    """The conditions of a filter; raises FieldRejected for what is not understood."""
    member = "metadata"
    try:
        refuse_operators(given.metadata or {})
        member = "where"
        return None if given.where is None else parse(given.where)
    except FilterRefused as error:
        loc = ("body", "filter", member, *error.place)
        raise FieldRejected(str(error), loc=loc, code=error.code) from None
