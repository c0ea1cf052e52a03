"""What a search reads does not grow with the chunks: each statement, on 1,000,000 of them."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final, LiteralString
from uuid import UUID, uuid4

import numpy as np
import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from harness.pools import pool_across_applications
from ingest.analysis.terms import salt
from ingest.postgres.database import Connection, Pool, transaction
from ingest.postgres.migrations import migrate
from ingest.store.search import hits, keyword_search, matching
from ingest.store.search.keyword_search import GramCondition, WordCondition
from ingest.store.search.scope import SearchScope

TIMEOUT: Final = timedelta(seconds=60)
BIG: Final = UUID(int=1)
"""The application that has nine chunks of ten."""
SMALL: Final = UUID(int=2)
MOST: Final = 400
"""Chunks that a condition may bring."""
EVERY: Final = [1]
"""A term of all chunks."""
MANY: Final = [100]
"""Of 4,500 chunks of the big application."""
FEW: Final = [1000, 1001]
"""Of ten chunks of each."""

# Ten chunks in each of 100,000 documents of 20,000 sources; without indexes that no search uses.
LOAD: Final[Sequence[LiteralString]] = (
    "set session_replication_role = replica",
    "set synchronous_commit = off",
    "set maintenance_work_mem = '256MB'",
    "drop index rag.chunks_source",
    "drop index rag.chunks_embedded_hash",
    "drop index rag.chunks_document",
    "drop index rag.chunks_words",
    "drop index rag.chunks_grams",
    "drop index rag.chunks_sample",
    "alter table rag.chunks drop constraint chunks_pkey cascade",
    "insert into app.applications (id, name) "
    "select lpad(to_hex(n), 32, '0')::uuid, 'application' from generate_series(1, 2) n",
    """
    insert into rag.knowledge_sources (id, application_id, type, name, uri, metadata)
    select lpad(to_hex(n), 32, '0')::uuid,
           lpad(case when n % 10 = 0 then '2' else '1' end, 32, '0')::uuid,
           'file', n, n, jsonb_build_object('team', n % 1000)
      from generate_series(0, 19999) n
    """,
    """
    insert into rag.documents (id, application_id, source_id, uri, media_type, status, content_hash,
           text, extractor, coverage, chunk_count, token_count, chunking, embedding_model_id,
           language)
    select lpad(to_hex(n), 32, '0')::uuid,
           lpad(case when n % 20000 % 10 = 0 then '2' else '1' end, 32, '0')::uuid,
           lpad(to_hex(n % 20000), 32, '0')::uuid, n, 't', 'completed', '', '', '', '{{}}', 10, 1,
           '{{}}', 1, (array['en', 'de', 'fr'])[1 + n % 3]
      from generate_series(0, 99999) n
    """,
    """
    insert into rag.chunks (id, application_id, source_id, document_id, ordinal, content,
           embedded_hash, token_count, char_start, char_end, section_start, section_end, words,
           grams)
    select lpad(to_hex(n), 32, '0')::uuid, application.id,
           lpad(to_hex(n % 20000), 32, '0')::uuid, lpad(to_hex(n % 100000), 32, '0')::uuid, n, '',
           '', 1, 0, 1, 0, 1,
           array[1 # salt, 0 # salt, (100 + n / 3 % 200) # salt, (1000 + n % 100000) # salt],
           case when n % 3 = 1 then array[(5000 + n / 7 % 901) # salt, (6000 + n / 7 % 901) # salt]
                else '{{}}' end
      from generate_series(0, 999999) n
     cross join lateral (
        select lpad(case when n % 10 = 0 then '2' else '1' end, 32, '0')::uuid as id,
               case when n % 10 = 0 then {small} else {big} end as salt) as application
    """,
    "alter table rag.chunks add primary key (id)",
    "create unique index chunks_document on rag.chunks (document_id, ordinal)",
    "create index chunks_words on rag.chunks using gin (words)",
    "create index chunks_grams on rag.chunks using gin (grams)",
    "create index chunks_sample on rag.chunks (application_id, sample)",
    "analyze rag.chunks, rag.documents, rag.knowledge_sources, app.applications",
)


@pytest.fixture(scope="module")
def million(server: str) -> Iterator[str]:
    """The DSN of a database with a million chunks."""
    name = f"million_{uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
    dsn = make_conninfo(server, dbname=name)
    migrate(dsn)
    with psycopg.connect(dsn, autocommit=True, cursor_factory=psycopg.ClientCursor) as conn:
        for statement in LOAD:
            conn.execute(sql.SQL(statement).format(big=salt(BIG), small=salt(SMALL)))
    yield dsn
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


@pytest.fixture
async def pool(million: str) -> AsyncIterator[Pool]:
    async with pool_across_applications(million, size=2, application_name="plans") as pool:
        yield pool


class Plans:
    """In place of a connection: explains what it is asked."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn
        self.read: dict[str, int] = {}
        """Rows read by table."""

    async def execute(
        self, statement: Any, values: Mapping[str, Any] | None = None, **_: Any
    ) -> "Plans":
        if isinstance(statement, bytes):
            statement = sql.SQL(statement.decode())
        explain = sql.SQL("explain (analyze, timing off, format json) ")
        cursor = await self._conn.execute(explain + statement, values, prepare=False)
        row = await cursor.fetchone()
        assert row is not None
        self._add(row[0][0]["Plan"])
        return self

    async def fetchone(self) -> Sequence[Any]:
        return [None] * 6

    async def fetchall(self) -> list[Any]:
        return []

    def _add(self, node: dict[str, Any]) -> None:
        table = node.get("Relation Name")
        if table is not None:
            assert node["Node Type"] != "Seq Scan" or node["Plan Rows"] < 100, node
            removed = node.get("Rows Removed by Filter", 0)
            removed += node.get("Rows Removed by Index Recheck", 0)
            read = (node["Actual Rows"] + removed) * node["Actual Loops"]
            self.read[table] = self.read.get(table, 0) + round(read)
        for part in node.get("Plans", ()):
            self._add(part)


def words(*groups: Sequence[int]) -> WordCondition:
    return WordCondition(groups=[np.array(group, np.int32) for group in groups])


async def candidates(
    pool: Pool, scope: SearchScope, *conditions: WordCondition | GramCondition
) -> Mapping[str, int]:
    async with transaction(pool.of(scope.application_id)) as conn:
        plans: Any = Plans(conn)
        await keyword_search.candidates(plans, scope, conditions, most=MOST)
    found: Mapping[str, int] = plans.read
    return found


@pytest.mark.parametrize("application", [BIG, SMALL])
@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (words(FEW), 10),
        (words(MANY), MOST),
        (words(EVERY), MOST),
        (words(EVERY, MANY), MOST),
        (words([1000, 1001, 1010, 1011, 1020, 1021]), 30),
        (GramCondition(grams=np.array([5000, 6000], np.int32)), MOST),
    ],
)
async def test_candidates_are_read_up_to_their_limit(
    pool: Pool, application: UUID, condition: WordCondition | GramCondition, expected: int
) -> None:
    hasty = SearchScope(application_id=application, is_hasty=True)

    read = await candidates(pool, hasty, condition)
    checked = await candidates(pool, replace(hasty, is_hasty=False), condition)

    # Once by the condition, and once for their terms.
    assert 0 < read["chunks"] <= 2 * expected
    assert read["chunks"] == checked["chunks"]
    assert checked["documents"] <= expected
    assert checked["knowledge_sources"] <= expected


async def test_conditions_are_tried_until_there_are_enough_chunks(pool: Pool) -> None:
    scope = SearchScope(application_id=BIG, is_hasty=True)
    grams = [GramCondition(grams=np.array([5000 + n, 6000 + n], np.int32)) for n in range(12)]

    by_words = await candidates(pool, scope, words(MANY), words(EVERY, MANY), words(EVERY))
    by_grams = await candidates(pool, scope, *grams)

    assert 0 < by_words["chunks"] <= 2 * MOST
    assert 0 < by_grams["chunks"] <= 4 * MOST


async def test_a_selective_filter_is_resolved_by_its_index(pool: Pool) -> None:
    scope = SearchScope(application_id=BIG, metadata={"team": 7})
    async with transaction(pool) as conn:
        plans: Any = Plans(conn)
        await matching.narrowed(plans, scope, most_chunks=5000, statement_timeout=TIMEOUT)
    assert plans.read["knowledge_sources"] <= 20
    assert plans.read["documents"] <= 100


async def test_a_rare_word_is_looked_for_in_few_documents(pool: Pool) -> None:
    scope = SearchScope(application_id=BIG, document_ids=[UUID(int=n) for n in (1, 2001)])

    read = await candidates(pool, scope, words(FEW), words(EVERY, FEW))

    assert 0 < read["chunks"] <= 40


async def test_common_words_are_looked_for_among_the_chunks_of_a_narrow_filter(pool: Pool) -> None:
    documents = [UUID(int=n) for n in range(1, 100_000, 1000)]
    scope = SearchScope(application_id=BIG, document_ids=documents)

    read = await candidates(pool, scope, words(EVERY, MANY), words(EVERY))

    # 1,000 once, and up to 400 once more for their terms.
    assert 0 < read["chunks"] <= 1000 + MOST


@pytest.mark.parametrize("application", [BIG, SMALL])
async def test_statistics_come_from_a_sample(pool: Pool, application: UUID) -> None:
    async with transaction(pool.of(application)) as conn:
        plans: Any = Plans(conn)
        await keyword_search.sample(plans, application, limit=1500)
        await keyword_search.languages(plans, application)
    assert plans.read["chunks"] == 1500
    assert plans.read["documents"] <= 5


async def test_what_hits_show_is_looked_up(pool: Pool) -> None:
    ids = [UUID(int=n) for n in range(1, 500, 10)]
    async with transaction(pool.of(BIG)) as conn:
        plans: Any = Plans(conn)
        await keyword_search.terms_of(plans, BIG, ids)
        terms_read = plans.read.pop("chunks")
        await plans.execute(hits._SQL["load"], {"ids": ids, "application_id": BIG})
    assert terms_read == plans.read["chunks"] == len(ids)
    assert plans.read["documents"] <= len(ids)
    assert plans.read["knowledge_sources"] <= len(ids)
