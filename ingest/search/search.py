"""Search, from the question to its hits: limits and order of the steps.

    search ─► embed the question ─► rank by meaning ┐
                                    rank by words  ─┴► fuse ─► choose distinct hits ─► rerank

`ingest/store/search` has the statements.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID

import psycopg
import structlog

from ingest.embedding.service import EmbeddingService
from ingest.errors import SearchTimeout, Transient
from ingest.observability import metrics
from ingest.postgres.database import transaction
from ingest.search.choose import Choice, Choices, as_hit, distinct, diverse, first_of_documents
from ingest.search.explain import Found, explain
from ingest.search.matched_text import MatchedText
from ingest.search.parts import SearchParts
from ingest.search.question import Answer, Question
from ingest.search.rank import Vector, rank
from ingest.search.rerank import Reranking, RerankOutcome
from ingest.search.trace import Trace
from ingest.search.vector_ranking import exact_bound
from ingest.store.search import hits, keyword_search, matching
from ingest.store.search.hits import StoredChunk
from ingest.store.search.scope import STATEMENT_TIMEOUT, SearchScope

log = structlog.get_logger()


# Chunks of each ranking: one that ranks well in both beats the best of one.
_DEPTH: Final = 50
# If so many of them say the same that hits are missing, more are ranked. More than its breadth, an
# index scan finds slowly or not at all.
_DEEPER: Final = (250, 1000)
# Chunks among which a search for diverse hits chooses, per hit.
_CHOICES_PER_HIT: Final = 5
_MOST_CHOICES: Final = 100
# Chunks of the documents that pass a filter; if more, each match is checked instead.
_READ_BY_WORDS: Final = 5000


async def search(question: Question, scope: SearchScope, parts: SearchParts) -> Answer:
    """Find the best chunks for a question.

    Raises SearchTimeout, Transient `busy` if too many searches of the application wait, and
    Transient if a `vector` search lacks the provider.
    """
    trace = Trace()
    query = MatchedText(question.text)
    with trace.timed("total"):
        # Embed before the transaction, so that a slow provider does not hold a connection.
        with trace.timed("embed"):
            vector, failure = await _embed(question, parts.embedder)
        trace.has_vector = vector is not None
        try:
            async with parts.slots.hold(scope.application_id):
                choices = await _find(question, query, scope, vector, parts, trace)
                if question.explain:
                    await _note_terms(choices, scope, parts, trace)
        except psycopg.errors.QueryCanceled:
            metrics.statement_timed_out("search")
            log.warning("search.timed_out", application_id=str(scope.application_id))
            raise SearchTimeout(
                "the search took too long and was ended; ask with fewer words, or in fewer sources"
            ) from None
        # Outside the slot, because it waits for a provider.
        with trace.timed("rerank"):
            outcome = await _rerank(question, choices.kept, parts)
    metrics.searched(question.mode, seconds=trace.seconds["total"])
    if failure is not None:
        metrics.search_degraded(failure.code)
    elif trace.lacking:
        metrics.search_degraded("embedding_model_missing")
    best = _best(question, outcome)
    explanation = None
    if question.explain:
        reranking = _reranking(question, parts)
        explanation = explain(
            Found(
                choices=choices,
                reranked=outcome.choices if outcome.reranked else None,
                best=best,
            ),
            trace,
            weights=question.weights,
            model=None if vector is None else parts.model,
            rerank_candidates=None if reranking is None else reranking.candidates,
            is_limited=scope.visible_in is not None,
        )
    return Answer(
        hits=[as_hit(choice, query) for choice in best],
        lacks_vector=failure,
        lacks_models=tuple(trace.lacking),
        reranked=outcome.reranked,
        rerank_failure=outcome.failure,
        explanation=explanation,
    )


async def _embed(
    question: Question, embedder: EmbeddingService
) -> tuple[Vector | None, Transient | None]:
    """The question's vector, or the reason why the search lacks one."""
    if question.mode == "keyword":
        return None, None
    try:
        return await embedder.embed_query(question.text, len(question.text)), None
    except Transient as error:
        if question.mode == "vector":
            raise
        return None, error


async def _find(
    question: Question,
    query: MatchedText,
    scope: SearchScope,
    vector: Vector | None,
    parts: SearchParts,
    trace: Trace,
) -> Choices:
    """Distinct chunks to choose from, best first."""
    with trace.timed("filter"):
        scope = await _narrowed(scope, vector, parts)
    if scope.document_ids is not None:
        trace.documents = len(scope.document_ids)
    pool = parts.pool.of(scope.application_id)
    if scope.visible_in is not None:
        pool = pool.limited_to(scope.visible_in)

    async def load(ids: Sequence[UUID]) -> list[StoredChunk]:
        with trace.timed("load"):
            return await hits.load_alone(pool, ids, application_id=scope.application_id)

    async def choose(scope: SearchScope, depth: int) -> tuple[Choices, bool]:
        """Also whether more may be found."""
        found, may_have_more = await rank(question, scope, vector, parts, trace, depth=depth)
        choices = await distinct(
            found,
            load,
            query,
            wanted=_wanted(question, parts),
            collapse=question.collapse,
            # A reranker decides which hits of a document are its best.
            per_document=None if _reranking(question, parts) else question.per_document,
        )
        is_enough = len(choices.kept) >= question.limit or choices.lacks_deleted
        return choices, may_have_more and not is_enough

    # Checking every candidate for deletion takes a third of a search. So only the hits are checked;
    # if one was deleted, the search is repeated with the full check.
    for careful in (replace(scope, is_hasty=True), scope):
        choices, may_have_more = await choose(careful, max(question.limit, _DEPTH))
        for depth in _DEEPER:
            if not may_have_more:
                break
            try:
                choices, may_have_more = await choose(careful, depth)
            except psycopg.errors.QueryCanceled:  # what was found before is better than nothing
                metrics.statement_timed_out("search")
                break
        if not choices.lacks_deleted:
            break
    return choices


async def _note_terms(
    choices: Choices, scope: SearchScope, parts: SearchParts, trace: Trace
) -> None:
    if trace.asked is None:
        return
    with trace.timed("explain"):
        ids = [choice.chunk.chunk_id for choice in choices.kept]
        async with transaction(parts.pool.of(scope.application_id)) as conn:
            trace.chunks = await keyword_search.terms_of(conn, scope.application_id, ids)


async def _narrowed(scope: SearchScope, vector: Vector | None, parts: SearchParts) -> SearchScope:
    """The scope with the documents that pass its filter, if they are few."""
    if not scope.is_filtered or parts.broad_filters.has(scope):
        return scope
    async with transaction(parts.pool) as conn:
        narrowed = await matching.narrowed(
            conn,
            scope,
            most_chunks=_READ_BY_WORDS if vector is None else exact_bound(len(vector)),
            statement_timeout=STATEMENT_TIMEOUT,
        )
    if narrowed.document_ids is None:
        parts.broad_filters.note(scope)
    return narrowed


def _wanted(question: Question, parts: SearchParts) -> int:
    """How many distinct chunks to choose the hits from."""
    wanted = question.limit
    if question.diversity:
        wanted = max(wanted, min(_MOST_CHOICES, _CHOICES_PER_HIT * wanted))
    if (reranking := _reranking(question, parts)) is not None:
        wanted = max(wanted, reranking.candidates)
    return wanted


def _reranking(question: Question, parts: SearchParts) -> Reranking | None:
    return parts.reranking if question.rerank else None


async def _rerank(
    question: Question, choices: Sequence[Choice], parts: SearchParts
) -> RerankOutcome:
    reranking = _reranking(question, parts)
    if reranking is None:
        return RerankOutcome(choices=choices, reranked=None)
    return await reranking.rerank(question.text, choices)


def _best(question: Question, outcome: RerankOutcome) -> Sequence[Choice]:
    choices = outcome.choices
    if outcome.reranked and question.min_score.rerank is not None:
        choices = [one for one in choices if question.min_score.passes_rerank(one.rerank_score)]
    if question.per_document is not None:
        choices = first_of_documents(choices, question.per_document)
    if question.diversity:
        return diverse(choices, diversity=question.diversity, limit=question.limit)
    return choices[: question.limit]
