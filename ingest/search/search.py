"""Search, from the question to its hits: limits and order of the steps.

    search ─► embed the question ─► rank by meaning ┐
                                    rank by words  ─┴► fuse ─► choose distinct hits ─► rerank

`ingest/store/search` has the statements.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import UUID

import numpy as np
import psycopg
import structlog
from numpy.typing import NDArray

from ingest.asynchronous.tasks import run_both
from ingest.embedding.earlier_models import EarlierModels
from ingest.embedding.service import EmbeddingService
from ingest.errors import SearchTimeout, Transient
from ingest.observability import metrics
from ingest.postgres.database import Pool, transaction
from ingest.search.choose import Choice, Choices, as_hit, distinct, diverse, first_of_documents
from ingest.search.fusion import fuse
from ingest.search.keyword_ranking import WordMatches, by_words, score_others
from ingest.search.matched_text import MatchedText
from ingest.search.model_change import by_models
from ingest.search.question import Answer, Question
from ingest.search.rerank import Reranking, RerankOutcome
from ingest.search.scores import Candidate, MinScore, candidates
from ingest.search.slots import SearchSlots
from ingest.search.statistics import SearchStatistics
from ingest.search.vector_ranking import EF_SEARCH, OtherModels, by_meaning
from ingest.store.documents.model_changes import StoredModel
from ingest.store.search import hits, vector_search
from ingest.store.search.hits import StoredChunk
from ingest.store.search.scope import Ranked, SearchScope
from ingest.store.search.vector_search import VectorQuery

log = structlog.get_logger()

Vector = NDArray[np.float32]

# Chunks of each ranking: one that ranks well in both beats the best of one.
_DEPTH: Final = 50
# If so many of them say the same that hits are missing, more are ranked. More than its breadth, an
# index scan finds slowly or not at all.
_DEEPER: Final = (250, 1000)
# Chunks among which a search for diverse hits chooses, per hit.
_CHOICES_PER_HIT: Final = 5
_MOST_CHOICES: Final = 100
# Ranking reads every match; beside vectors, a broad query needs fewer ranked matches.
_RANKED_ALONE: Final = 1000
_RANKED_HYBRID: Final = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchParts:
    """What searches of a process share."""

    pool: Pool
    embedder: EmbeddingService
    model_id: int
    earlier: EarlierModels = field(default_factory=EarlierModels)
    reranking: Reranking | None = None
    slots: SearchSlots = field(default_factory=SearchSlots)
    statistics: SearchStatistics = field(default_factory=SearchStatistics)


async def search(question: Question, scope: SearchScope, parts: SearchParts) -> Answer:
    """Find the best chunks for a question.

    Raises SearchTimeout, Transient `busy` if too many searches of the application wait, and
    Transient if a `vector` search lacks the provider.
    """
    started = time.monotonic()
    lacking: list[StoredModel] = []
    # Embed before the transaction, so that a slow provider does not hold a connection.
    vector, failure = await _embed(question, parts.embedder)
    query = MatchedText(question.text)
    try:
        async with parts.slots.hold(scope.application_id):
            choices = await _find(question, query, scope, vector, parts, lacking)
    except psycopg.errors.QueryCanceled:
        metrics.statement_timed_out("search")
        log.warning("search.timed_out", application_id=str(scope.application_id))
        raise SearchTimeout(
            "the search took too long and was ended; ask with fewer words, or in fewer sources"
        ) from None
    # Outside the slot, because it waits for a provider.
    outcome = await _rerank(question, choices, parts)
    metrics.searched(question.mode, seconds=time.monotonic() - started)
    if failure is not None:
        metrics.search_degraded(failure.code)
    elif lacking:
        metrics.search_degraded("embedding_model_missing")
    return Answer(
        hits=[as_hit(choice, query) for choice in _best(question, outcome)],
        lacks_vector=failure,
        lacks_models=tuple(lacking),
        reranked=outcome.reranked,
        rerank_failure=outcome.failure,
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
    lacking: list[StoredModel],
) -> list[Choice]:
    """Distinct chunks to choose from, best first. `lacking`: as for `_rank`."""

    pool = parts.pool.of(scope.application_id)

    async def load(ids: Sequence[UUID]) -> list[StoredChunk]:
        async with transaction(pool) as conn:
            return await hits.load(conn, ids, application_id=scope.application_id)

    async def choose(scope: SearchScope, depth: int) -> tuple[Choices, bool]:
        """Also whether more may be found."""
        found, may_have_more = await _rank(question, scope, vector, parts, lacking, depth=depth)
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
    return choices.kept


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


async def _rank(
    question: Question,
    scope: SearchScope,
    vector: Vector | None,
    parts: SearchParts,
    lacking: list[StoredModel],
    *,
    depth: int,
) -> tuple[list[Candidate], bool]:
    """Up to `depth` candidates of each half, and whether more might become hits.

    `lacking`: replaced by the earlier models that could not be asked.
    """
    pool = parts.pool.of(scope.application_id)

    async def meaning(vector: Vector) -> list[Ranked]:
        most = max(question.limit, min(depth, EF_SEARCH))
        query = VectorQuery(scope=scope, model_id=parts.model_id, vector=vector, limit=most)
        try:
            async with transaction(pool) as conn:
                return await by_meaning(conn, query, parts.statistics, expects_one_model=True)
        except OtherModels:
            found, lacking[:] = await by_models(
                pool, query, question.text, earlier=parts.earlier, statistics=parts.statistics
            )
            return found

    async def words(*, most: int) -> WordMatches:
        async with transaction(pool) as conn:
            text = question.text
            return await by_words(conn, scope, text, parts.statistics, most=max(most, depth))

    if vector is None:
        matching = await words(most=_RANKED_ALONE)
        by_word = matching.best(depth)
        found, near = candidates(by_word, words=by_word), []
    elif question.mode == "vector":
        near, by_word = await meaning(vector), []
        found = candidates(near, near=near)
    else:
        # Concurrently, each on its own connection. Neither holds one while it waits for the other:
        # otherwise many searches would deadlock on the pool.
        near, matching = await run_both(meaning(vector), words(most=_RANKED_HYBRID))
        by_word = matching.best(depth)
        found = await _fuse(near, by_word, matching, vector, question, scope, parts)
    least = question.min_score
    is_cut = _reaches_below(near, least.cosine) or _reaches_below(by_word, least.bm25)
    may_have_more = max(len(near), len(by_word)) >= depth and not is_cut
    return [one for one in found if _passes(one, least, vector)], may_have_more


async def _fuse(
    near: Sequence[Ranked],
    by_word: Sequence[Ranked],
    matching: WordMatches,
    vector: Vector,
    question: Question,
    scope: SearchScope,
    parts: SearchParts,
) -> list[Candidate]:
    """Score each chunk of both rankings by both: a chunk that only one has is not worse by that."""
    cosines = {hit.id: hit.score for hit in near}
    bm25 = {id: matching.scores[id] for id in cosines if id in matching.scores}
    bm25 |= {hit.id: hit.score for hit in by_word}
    query = VectorQuery(scope=scope, model_id=parts.model_id, vector=vector, limit=len(bm25))
    async with transaction(parts.pool.of(scope.application_id)) as conn:
        unlike = [id for id in bm25 if id not in cosines]
        others = [id for id in cosines if id not in bm25]
        cosines |= await vector_search.cosines(conn, query, unlike)
        bm25 |= await score_others(conn, scope, matching, others)
    if matching.has_conditions:
        cosines = {id: cosine for id, cosine in cosines.items() if id in bm25}
    order = fuse(
        cosines,
        bm25,
        whole_weight=matching.whole_weight,
        limit=len(near) + len(by_word),
        weights=question.weights,
    )
    return candidates(order, near=near, words=by_word, cosines=cosines, bm25=bm25)


def _passes(candidate: Candidate, least: MinScore, vector: Vector | None) -> bool:
    """Whether it reaches the least scores. Without vectors no chunk has a similarity; the answer
    says that it is degraded."""
    return (replace(least, cosine=None) if vector is None else least).passes(candidate)


def _reaches_below(ranking: Sequence[Ranked], least: float | None) -> bool:
    """Whether a ranking has come to hits below the least score: more of it would be as well."""
    return least is not None and any(hit.score < least for hit in ranking)
