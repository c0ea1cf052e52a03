"""Search chunks: by meaning, by keywords, or by both."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from api.authenticated_route import KeyedRouter
from api.authentication import Key
from api.dependencies import InUseDep, Reader, RuntimeDep
from api.schema.json_model import Body, Whole
from api.schema.search_filter import Query, SearchFilter, parsed
from ingest.runtime import Runtime
from ingest.search.explanation import SearchExplanation
from ingest.search.fusion import Weights
from ingest.search.question import Answer, Mode, Question
from ingest.search.scores import MinScore
from ingest.search.search import search
from ingest.store.search.hits import SearchHit
from ingest.store.search.scope import SearchScope
from ingest.store.view import View

router = KeyedRouter(tags=["search"])


Score = Annotated[float, Field(allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class LeastScores(Body):
    """Hits below any of these are left out, and so are hits without the score."""

    cosine: Score | None = None
    bm25: Score | None = None
    rerank: Score | None = None
    """Has an effect only where the hits are reranked."""


class SearchWeights(Body):
    """How much each half counts in `hybrid`, relative to the other."""

    vector: Share = 1.0
    keyword: Share = 1.0

    @model_validator(mode="after")
    def one_half_counts(self) -> Self:
        if self.vector + self.keyword <= 0:
            raise ValueError("one of the weights must be above 0")
        return self


class SearchSettings(Body):
    """How to search."""

    mode: Mode = "hybrid"
    min_score: LeastScores = LeastScores()
    collapse: bool = True
    """Whether chunks that say the same about the query become one hit with `duplicates`."""
    per_document: Annotated[Whole, Field(ge=1, le=100)] | None = None
    """Most hits of one document."""
    diversity: Share = 0.0
    """Above 0: prefer hits unlike those before them (maximal marginal relevance)."""
    weights: SearchWeights = SearchWeights()
    rerank: bool = True
    """Whether a configured reranker ranks the best candidates again."""

    @model_validator(mode="after")
    def scores_exist(self) -> Self:
        least = self.min_score
        if self.mode == "keyword" and least.cosine is not None:
            raise ValueError("minScore.cosine: a keyword search has no cosine similarity")
        if self.mode == "vector" and least.bm25 is not None:
            raise ValueError("minScore.bm25: a vector search has no keyword score")
        return self


class SearchRequest(SearchSettings):
    query: Annotated[Query, Field(max_length=8000)]
    limit: Annotated[Whole, Field(ge=1, le=100)] = 10
    filter: SearchFilter = SearchFilter()
    explain: bool = False
    """Whether the answer says why each hit is where it is, and how long each step took."""

    def question(self) -> Question:
        return Question(
            text=self.query,
            mode=self.mode,
            limit=self.limit,
            min_score=MinScore(**dict(self.min_score)),
            collapse=self.collapse,
            per_document=self.per_document,
            diversity=self.diversity,
            weights=Weights(**dict(self.weights)),
            rerank=self.rerank,
            explain=self.explain,
        )


Lacking = Literal["vector", "earlierModel"]


class SearchHits(View):
    hits: list[SearchHit]
    degraded: list[Lacking] = Field(default_factory=list)
    """What the search lacked: `vector`, a hybrid search while the embedding provider does not
    respond; `earlierModel`, if documents are searched by a model that is not configured any more:
    words find them, and `POST /api/reembed` makes new vectors."""
    degraded_reason: str | None = None
    """The error code and the provider's message."""
    reranked: bool | None = None
    """False: the reranker failed, and the hits are as ranked without it; null: it was not asked."""
    rerank_reason: str | None = None
    """Why not: the error code and a message."""
    explanation: SearchExplanation | None = None
    """If asked for with `explain`."""


@router.post("/api/search")
async def search_chunks(
    body: SearchRequest, runtime: RuntimeDep, key: Reader, in_use: InUseDep
) -> SearchHits:
    """The best chunks, best first.

    `score` is the cosine similarity (`vector`), BM25 (`keyword`), or 0 to 1 by both (`hybrid`); if
    the hits were reranked, the score of the reranker. `cosine` and `bm25` are absolute.

    A search waits at most 5 seconds for the embedding provider. Without it, `hybrid` returns the
    hits and scores of `keyword` with `"degraded": ["vector"]`; `vector` is answered with 503 and
    the code of the cause.
    """
    with in_use.limited("searches", key):
        return await answer_of(body, runtime, key)


async def answer_of(body: SearchRequest, runtime: Runtime, key: Key) -> SearchHits:
    """Search what the caller may see. Raises FieldRejected, and what `search` raises."""
    filter = parsed(body.filter)
    if not body.query.strip():
        return SearchHits(hits=[])  # only characters that are never stored
    answer = await search(
        body.question(),
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
    failure = answer.rerank_failure
    degraded, reason = _degraded(answer)
    return SearchHits(
        hits=list(answer.hits),
        degraded=degraded,
        degraded_reason=reason,
        reranked=answer.reranked,
        rerank_reason=None if failure is None else f"{failure.code}: {failure}",
        explanation=answer.explanation,
    )


def _degraded(answer: Answer) -> tuple[list[Lacking], str | None]:
    if (lack := answer.lacks_vector) is not None:
        return ["vector"], f"{lack.code}: {lack}"
    if answer.lacks_models:
        names = ", ".join(f"{model.provider}/{model.name}" for model in answer.lacks_models)
        return ["earlierModel"], f"embedding_model_missing: {names} is not configured"
    return [], None
