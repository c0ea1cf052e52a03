"""Searches of small random databases have the hits that all chunks have, one by one."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from uuid import UUID

import numpy as np
import pytest
from numpy.typing import NDArray

from harness.pools import pool_across_applications
from ingest.embedding.service import EmbeddingService
from ingest.postgres.database import Connection, Pool, transaction
from ingest.search.fusion import Weights
from ingest.search.keyword_ranking import read_words, score_others
from ingest.search.parts import SearchParts
from ingest.search.question import Question
from ingest.search.rank import rank
from ingest.search.scores import MinScore
from ingest.search.statistics import SearchStatistics
from ingest.search.trace import Trace
from ingest.store.search import keyword_search
from ingest.store.search.scope import STATEMENT_TIMEOUT, SearchScope
from ingest.store.sources import sources
from tests.support.fake_embedder import FakeEmbedder
from tests.support.queue_builders import add_application
from tests.support.searchable_chunks import Space, add_document, add_space
from tests.support.vector_index import index_all

WORDS = ["pump", "valve", "pipe", "oil", "filter", "seal", "motor", "shaft", "clean", "weekly"]
QUESTIONS = [
    "pump oil",
    "pump -valve",
    '"oil filter"',
    '"clean weekly" -motor',
    "-seal",
    "zebra",
    "pump pipe zebra",
    "!!!",
]


@dataclass(frozen=True, kw_only=True)
class Stored:
    source: UUID
    vector: NDArray[np.float32] | None
    """None: the chunk has none."""


@dataclass(frozen=True, kw_only=True)
class Expected:
    id: UUID
    cosine: float | None
    bm25: float | None
    score: float


async def fill(
    conn: Connection, application_id: UUID, space: Space, random: Random
) -> dict[UUID, Stored]:
    """A few documents: some in the index, one of a deleted source, and chunks without vectors."""
    stored: dict[UUID, Stored] = {}
    for nth in range(6):
        count = random.randint(1, 5)
        texts = [" ".join(random.choices(WORDS, k=random.randint(1, 12))) for _ in range(count)]
        vectors = space.clustered(count)
        source = await add_document(conn, application_id, space, texts, vectors=vectors)
        cursor = await conn.execute(
            "select id from rag.chunks where source_id = %s order by ordinal", [source]
        )
        own = {}
        for (id,), vector in zip(await cursor.fetchall(), vectors, strict=True):
            own[id] = Stored(source=source, vector=vector if random.random() < 0.8 else None)
            if own[id].vector is None:
                await conn.execute("delete from rag.embeddings where chunk_id = %s", [id])
        if nth == 4:
            await sources.tombstone(conn, application_id=application_id, ids=[source])
        else:
            stored |= own
        if nth == 2:
            await index_all(conn)
    return stored


def expected(
    stored: Mapping[UUID, Stored],
    bm25: Mapping[UUID, float],
    vector: NDArray[np.float32],
    question: Question,
    *,
    whole_weight: float,
    has_conditions: bool,
    depth: int,
) -> list[Expected]:
    """The best `depth` of each half, scored by both; by the definitions, one chunk at a time."""
    cosines = {
        id: cosine(one.vector, vector) for id, one in stored.items() if one.vector is not None
    }
    near = sorted(cosines, key=lambda id: -cosines[id])[:depth]
    worded = {id: score for id, score in bm25.items() if id in stored and score > 0}
    best = sorted(worded, key=lambda id: (-worded[id], id))[:depth]
    least, share = question.min_score, question.weights.words()
    found = []
    for id in {*near, *best}:
        near_by, words = cosines.get(id), worded.get(id)
        if has_conditions and id not in bm25:
            continue
        if least.cosine is not None and (near_by is None or near_by < least.cosine):
            continue
        if least.bm25 is not None and (words is None or words < least.bm25):
            continue
        by_words = 0 if words is None else share * words / (words + 0.8 * whole_weight)
        score = by_words + (1 - share) * max(near_by or 0, 0)
        found.append(Expected(id=id, cosine=near_by, bm25=words, score=score))
    return sorted(found, key=lambda one: (-one.score, one.id))


def cosine(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


@pytest.mark.parametrize("seed", range(4))
async def test_a_hybrid_search_finds_what_comparing_all_chunks_finds(
    pool: Pool, conn: Connection, application_id: UUID, seed: int
) -> None:
    random = Random(seed)
    space = await add_space(conn)
    await fill(conn, await add_application(conn), space, random)
    stored = await fill(conn, application_id, space, random)
    names = sorted({one.source for one in stored.values()})
    parts = SearchParts(pool=pool, embedder=EmbeddingService(FakeEmbedder()), model_id=space.id)
    if seed % 2:  # as of a time when it had many vectors
        parts.statistics.note(application_id, space.id, is_large=True)

    for text in QUESTIONS:
        question = Question(
            text=text,
            limit=3,
            weights=Weights(vector=random.choice([0, 1, 3]), keyword=random.choice([1, 2])),
            min_score=MinScore(
                cosine=random.choice([None, None, 0.1]), bm25=random.choice([None, None, 0.5])
            ),
        )
        wanted = random.choice([names, names[:2], []])
        depth, vector = random.choice([3, 100]), space.clustered(1)[0]
        own = pool.of(application_id)
        asked = await read_words(own, application_id, text, SearchStatistics())
        async with transaction(own) as reading:
            await keyword_search.begin(reading, statement_timeout=STATEMENT_TIMEOUT)
            bm25 = dict(
                (
                    await score_others(
                        reading, SearchScope(application_id=application_id), asked, list(stored)
                    )
                ).pairs()
            )

        found, _ = await rank(
            question,
            SearchScope(
                application_id=application_id, source_ids=None if wanted == names else wanted
            ),
            vector,
            parts,
            Trace(),
            depth=depth,
        )

        right = expected(
            {id: one for id, one in stored.items() if one.source in wanted},
            bm25,
            vector,
            question,
            whole_weight=asked.whole_weight,
            has_conditions=asked.has_conditions,
            depth=depth,
        )
        assert [one.id for one in found] == [one.id for one in right], text
        for one, other in zip(found, right, strict=True):
            assert one.score == pytest.approx(other.score, abs=1e-5)
            assert one.cosine == (other.cosine and pytest.approx(other.cosine, abs=1e-5))
            assert one.bm25 == other.bm25


async def test_searches_that_are_cancelled_leave_nothing_on_their_connections(
    dsn: str, conn: Connection, application_id: UUID
) -> None:
    random = Random(0)
    space = await add_space(conn)
    tenants = [application_id, await add_application(conn)]
    owned = {id: await fill(conn, id, space, random) for id in tenants}
    finished = 0

    async with pool_across_applications(dsn, size=2, application_name="search") as pool:
        parts = SearchParts(pool=pool, embedder=EmbeddingService(FakeEmbedder()), model_id=space.id)

        async def search(tenant: UUID) -> None:
            nonlocal finished
            found, _ = await rank(
                Question(text="pump oil"),
                SearchScope(application_id=tenant),
                space.clustered(1)[0],
                parts,
                Trace(),
                depth=100,
            )
            assert {one.id for one in found} <= set(owned[tenant])
            assert found
            finished += 1

        for nth in range(60):
            searching = [asyncio.create_task(search(tenant)) for tenant in tenants]
            for _ in range(random.randint(0, 30)):
                await asyncio.sleep(0)
            await asyncio.sleep(random.choice([0, 0, 0.003, 0.006]))
            if nth % 10:
                random.choice(searching).cancel()
            await asyncio.gather(*searching, return_exceptions=True)
            for task in searching:
                if not task.cancelled():
                    task.result()
        async with pool.session() as one, pool.session() as other:
            left = [
                await (
                    await each.execute(
                        "select coalesce(current_setting('app.application_id', true), ''), "
                        "current_setting('statement_timeout'), current_user = session_user"
                    )
                ).fetchone()
                for each in (one, other)
            ]

    assert 60 < finished < 120
    assert left == [("", "0", True)] * 2
