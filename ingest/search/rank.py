"""Ranks chunks by meaning, by words, or by both."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from ingest.asynchronous.tasks import run_both
from ingest.postgres.database import Connection, transaction
from ingest.search.fusion import fuse
from ingest.search.keyword_ranking import WordQuestion, by_words, read_words, score_others
from ingest.search.model_change import by_models
from ingest.search.parts import SearchParts
from ingest.search.question import Question
from ingest.search.scores import (
    Candidate,
    Half,
    MinScore,
    by_meaning_alone,
    by_words_alone,
    joined,
)
from ingest.search.trace import Trace
from ingest.search.vector_ranking import EF_SEARCH, OtherModels, by_meaning
from ingest.store.search import vector_search
from ingest.store.search.scope import Ranked, SearchScope
from ingest.store.search.vector_search import VectorQuery

Vector = NDArray[np.float32]

# Ranking reads every match; beside vectors, a broad query needs fewer ranked matches.
_RANKED_ALONE: Final = 1000
_RANKED_HYBRID: Final = 400


async def rank(
    question: Question,
    scope: SearchScope,
    vector: Vector | None,
    parts: SearchParts,
    trace: Trace,
    *,
    depth: int,
) -> tuple[list[Candidate], bool]:
    """Up to `depth` candidates of each half, and whether more might become hits."""
    pool = parts.pool.of(scope.application_id)

    async def meaning(vector: Vector, asked: WordQuestion | None = None) -> Half:
        """The nearest chunks, and their BM25."""
        most = max(question.limit, min(depth, EF_SEARCH))
        query = VectorQuery(scope=scope, model_id=parts.model_id, vector=vector, limit=most)
        with trace.timed("vectors"):
            try:
                async with transaction(pool) as conn:
                    near = await by_meaning(conn, query, parts.statistics, expects_one_model=True)
                    return Half(near, await _by_words_too(conn, scope, asked, near))
            except OtherModels:
                near, trace.lacking = await by_models(
                    pool, query, question.text, earlier=parts.earlier, statistics=parts.statistics
                )
            if asked is None:
                return Half(near)
            async with transaction(pool) as conn:
                return Half(near, await _by_words_too(conn, scope, asked, near))

    async def read() -> WordQuestion:
        with trace.timed("words"):
            trace.asked = await read_words(
                pool, scope.application_id, question.text, parts.statistics
            )
            return trace.asked

    async def words(asked: WordQuestion, *, most: int, vector: Vector | None = None) -> Half:
        """The best chunks by words, and their similarities."""
        with trace.timed("words"):
            async with transaction(pool) as conn:
                found = await by_words(conn, scope, asked, most=max(most, depth))
                best = found.best(depth)
                if vector is None or not best:
                    return Half(best)
                ids = [hit.id for hit in best]
                query = VectorQuery(
                    scope=scope, model_id=parts.model_id, vector=vector, limit=len(ids)
                )
                return Half(best, await vector_search.cosines(conn, query, ids))

    near: Sequence[Ranked] = []
    by_word: Sequence[Ranked] = []
    if vector is None:
        by_word, _ = await words(await read(), most=_RANKED_ALONE)
        found = by_words_alone(by_word)
    elif question.mode == "vector":
        near, _ = await meaning(vector)
        found = by_meaning_alone(near)
    else:
        asked = await read()
        # Concurrently, each on its own connection. Neither holds one while it waits for the other:
        # otherwise many searches would deadlock on the pool.
        by_vectors, by_terms = await run_both(
            meaning(vector, asked), words(asked, most=_RANKED_HYBRID, vector=vector)
        )
        near, by_word = by_vectors.ranking, by_terms.ranking
        trace.unrelated = parts.embedder.unrelated
        with trace.timed("fuse"):
            found = fuse(
                joined(by_vectors, by_terms, needs_words=asked.has_conditions),
                whole_weight=asked.whole_weight,
                unrelated=parts.embedder.unrelated,
                weights=question.weights,
            )
    least = question.min_score
    is_cut = _reaches_below(near, least.cosine) or _reaches_below(by_word, least.bm25)
    may_have_more = max(len(near), len(by_word)) >= depth and not is_cut
    passing = [one for one in found if _passes(one, least, vector)]
    trace.by_vectors, trace.by_words = len(near), len(by_word)
    trace.below_min_score = len(found) - len(passing)
    return passing, may_have_more


async def _by_words_too(
    conn: Connection, scope: SearchScope, asked: WordQuestion | None, near: Sequence[Ranked]
) -> Iterable[tuple[UUID, float]]:
    if asked is None or not near:
        return ()
    return (await score_others(conn, scope, asked, [hit.id for hit in near])).pairs()


def _passes(candidate: Candidate, least: MinScore, vector: Vector | None) -> bool:
    """Whether it reaches the least scores. Without vectors no chunk has a similarity; the answer
    says that it is degraded."""
    return (replace(least, cosine=None) if vector is None else least).passes(candidate)


def _reaches_below(ranking: Sequence[Ranked], least: float | None) -> bool:
    """Whether a ranking has come to hits below the least score: more of it would be as well."""
    return least is not None and any(hit.score < least for hit in ranking)
