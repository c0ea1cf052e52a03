"""Ranks chunks by meaning, by words, or by both."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ingest.asynchronous.tasks import run_both
from ingest.postgres.database import transaction
from ingest.search.fusion import fuse
from ingest.search.keyword_ranking import WordMatches, by_words, score_others
from ingest.search.model_change import by_models
from ingest.search.parts import SearchParts
from ingest.search.question import Question
from ingest.search.scores import Candidate, MinScore, candidates
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

    async def meaning(vector: Vector) -> list[Ranked]:
        most = max(question.limit, min(depth, EF_SEARCH))
        query = VectorQuery(scope=scope, model_id=parts.model_id, vector=vector, limit=most)
        with trace.timed("vectors"):
            try:
                async with transaction(pool) as conn:
                    return await by_meaning(conn, query, parts.statistics, expects_one_model=True)
            except OtherModels:
                found, trace.lacking = await by_models(
                    pool, query, question.text, earlier=parts.earlier, statistics=parts.statistics
                )
                return found

    async def words(*, most: int) -> WordMatches:
        with trace.timed("words"):
            async with transaction(pool) as conn:
                text = question.text
                trace.matches = await by_words(
                    conn, scope, text, parts.statistics, most=max(most, depth)
                )
                return trace.matches

    if vector is None:
        matches = await words(most=_RANKED_ALONE)
        by_word = matches.best(depth)
        found, near = candidates(by_word, words=by_word), []
    elif question.mode == "vector":
        near, by_word = await meaning(vector), []
        found = candidates(near, near=near)
    else:
        # Concurrently, each on its own connection. Neither holds one while it waits for the other:
        # otherwise many searches would deadlock on the pool.
        near, matches = await run_both(meaning(vector), words(most=_RANKED_HYBRID))
        by_word = matches.best(depth)
        trace.unrelated = parts.embedder.unrelated
        with trace.timed("fuse"):
            found = await _fuse(near, by_word, matches, vector, question, scope, parts)
    least = question.min_score
    is_cut = _reaches_below(near, least.cosine) or _reaches_below(by_word, least.bm25)
    may_have_more = max(len(near), len(by_word)) >= depth and not is_cut
    passing = [one for one in found if _passes(one, least, vector)]
    trace.by_vectors, trace.by_words = len(near), len(by_word)
    trace.below_min_score = len(found) - len(passing)
    return passing, may_have_more


async def _fuse(
    near: Sequence[Ranked],
    by_word: Sequence[Ranked],
    matches: WordMatches,
    vector: Vector,
    question: Question,
    scope: SearchScope,
    parts: SearchParts,
) -> list[Candidate]:
    """Score each chunk of both rankings by both: a chunk that only one has is not worse by that."""
    cosines = {hit.id: hit.score for hit in near}
    bm25 = {id: matches.scores[id] for id in cosines if id in matches.scores}
    bm25 |= {hit.id: hit.score for hit in by_word}
    query = VectorQuery(scope=scope, model_id=parts.model_id, vector=vector, limit=len(bm25))
    unlike = [id for id in bm25 if id not in cosines]
    others = [id for id in cosines if id not in bm25]
    if unlike or others:
        async with transaction(parts.pool.of(scope.application_id)) as conn:
            if unlike:
                cosines |= await vector_search.cosines(conn, query, unlike)
            if others:
                bm25 |= await score_others(conn, scope, matches, others)
    if matches.has_conditions:
        cosines = {id: cosine for id, cosine in cosines.items() if id in bm25}
    order = fuse(
        cosines,
        bm25,
        whole_weight=matches.whole_weight,
        unrelated=parts.embedder.unrelated,
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
