"""Searches an application whose documents are of two embedding models, while it changes over.

Each document is searched by the model that its row names. The question is embedded with each model,
and the rankings are merged by rank, because similarities of two models cannot be compared. If an
earlier model cannot be asked, its documents are found by words, and by the new vectors that they
have already.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from ingest.embedding.earlier_models import EarlierModels
from ingest.errors import Transient
from ingest.postgres.database import Pool, transaction
from ingest.search.statistics import SearchStatistics
from ingest.search.vector_ranking import by_meaning
from ingest.store.embeddings import model_changes
from ingest.store.embeddings.model_changes import StoredModel
from ingest.store.search.scope import Ranked
from ingest.store.search.vector_search import VectorQuery

# How often a search is repeated if the application changes over meanwhile.
_TRIES: Final = 3


async def by_models(
    pool: Pool,
    query: VectorQuery,
    text: str,
    *,
    earlier: EarlierModels,
    statistics: SearchStatistics,
) -> tuple[list[Ranked], list[StoredModel]]:
    """The nearest chunks, by all models of the application; and the models that cannot be asked.

    query: that of the current model.
    """
    vectors: dict[int, NDArray[np.float32]] = {query.model_id: query.vector}
    application_id = query.scope.application_id
    for _ in range(_TRIES):
        async with transaction(pool) as conn:
            models = await model_changes.in_use(conn, application_id, current=query.model_id)
        missing = await _embed(models, text, vectors, earlier)
        asked = [model.id for model in models if model.id in vectors]
        if missing and query.model_id not in asked:
            asked.append(query.model_id)
        async with transaction(pool) as conn:
            rankings = []
            # The current model last: it finds what changes over meanwhile.
            for id in asked:
                own = replace(query, model_id=id, vector=vectors[id], only_own=not missing)
                rankings.append(await by_meaning(conn, own, statistics))
            after = await model_changes.in_use(conn, application_id, current=query.model_id)
        if [model.id for model in after] == [model.id for model in models]:
            break
    return merge(rankings, limit=query.limit), missing


async def _embed(
    models: Sequence[StoredModel],
    text: str,
    vectors: dict[int, NDArray[np.float32]],
    earlier: EarlierModels,
) -> list[StoredModel]:
    """Add the question's vector by each model; returns the models that cannot be asked."""
    missing = []
    for model in models:
        if model.id in vectors:
            continue
        try:
            vectors[model.id] = await earlier.embed_query(model, text)
        except Transient:
            missing.append(model)
    return missing


def merge(rankings: Sequence[Sequence[Ranked]], *, limit: int) -> list[Ranked]:
    """Merge by best rank. Scores are those that the longest ranking has at this rank."""
    scores = [hit.score for hit in max(rankings, key=len, default=())]
    ranks: dict[UUID, int] = {}
    for ranking in rankings:
        for rank, hit in enumerate(ranking):
            ranks[hit.id] = min(rank, ranks.get(hit.id, rank))
    order = sorted(ranks.items(), key=lambda item: (item[1], item[0]))
    return [Ranked(id=id, score=scores[rank]) for id, rank in order[:limit]]
