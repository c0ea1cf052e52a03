"""What is asked of sources reads what it shows, however many of them are stored."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, get_args
from uuid import UUID

import psycopg
import pytest
from psycopg.types.json import Jsonb

from ingest.model import SourceStatus
from ingest.postgres.database import Connection, load_queries
from ingest.store.crawl import crawl_views
from ingest.store.lists import source_lists
from ingest.store.lists.source_lists import SourceFilter
from ingest.store.sources import progress, source_views
from tests.conftest import EMPTY
from tests.support.live_sources import add_source

SOURCES: Final = 20_000
LARGE: Final = UUID(int=1)
"""The application that owns half of them; 500 others share the rest."""
SMALL: Final = UUID(int=7)
BATCH: Final = UUID(int=1000)

_LISTS = load_queries("lists/source_lists.sql")
_LIST = source_lists.page_statement("createdAt")
_BULK_SOURCES = load_queries("bulk/bulk_sources.sql")
_SOURCES = load_queries("sources/sources.sql")
_RESCRAPES = load_queries("crawl/rescrapes.sql")
_PROGRESS = load_queries("sources/progress.sql")
_BATCHES = load_queries("sources/batch_views.sql")

_LOAD: Final = f"""
set local session_replication_role = replica;
delete from app.applications;
insert into app.applications (id, name, is_default)
select lpad(to_hex(n), 32, '0')::uuid, 'application', n = 1 from generate_series(1, 501) n;
insert into rag.upload_batches (id, application_id)
select lpad(to_hex(1000 + n), 32, '0')::uuid, lpad('1', 32, '0')::uuid
  from generate_series(0, {SOURCES} / 100) n;
insert into rag.knowledge_sources
    (id, application_id, batch_id, type, name, uri, status, chunk_count, error_code, created_at,
     updated_at)
select lpad(to_hex(n), 32, '0')::uuid,
       lpad(to_hex(case when n % 2 = 0 then 1 else 2 + n / 2 % 500 end), 32, '0')::uuid,
       lpad(to_hex(1000 + n / 100), 32, '0')::uuid,
       case when n % 4000 = 0 then 'url' else 'file' end, 'name', 'path/' || n,
       case when n % 4000 = 2 then 'failed' when n % 5000 = 4 then 'pending' else 'completed' end,
       case when n % 4000 = 2 then 0 else 1 + n % 9 end,
       case when n % 4000 = 2 then 'corrupt' end, now() - n * interval '1 minute',
       now() - n % 1000 * interval '1 minute'
  from generate_series(1, {SOURCES}) n;
insert into rag.upload_files (batch_id, path, size_bytes, verdict, knowledge_source_id)
select batch_id, uri, 1, 'accepted', id from rag.knowledge_sources order by id;
"""


@pytest.fixture(scope="module")
def many(server: str) -> Iterator[psycopg.Connection[Any]]:
    """A database with many sources; what is explained on it changes nothing."""
    with psycopg.connect(server, autocommit=True, cursor_factory=psycopg.ClientCursor) as conn:
        conn.execute(EMPTY)
        with conn.transaction():
            conn.execute(_LOAD.encode())
        conn.execute("vacuum analyze rag.knowledge_sources, rag.upload_files, app.applications")
        yield conn
        conn.execute(EMPTY)


def _rows_read(
    conn: psycopg.Connection[Any], statement: bytes, parameters: Mapping[str, Any]
) -> int:
    """Rows of sources and files that a statement looks at."""
    with conn.transaction(force_rollback=True):
        explained = b"explain (analyze, timing off, format json) " + statement.rstrip(b"; \n")
        [(plan,)] = conn.execute(explained, parameters).fetchall()
    return sum(_looked_at(node) for node in _nodes(plan[0]["Plan"]))


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", []):
        yield from _nodes(part)


def _looked_at(node: dict[str, Any]) -> int:
    if node.get("Relation Name") not in ("knowledge_sources", "upload_files"):
        return 0
    removed = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    return int((node["Actual Rows"] + removed) * node["Actual Loops"])


_NO_FILTER: Final[Mapping[str, Any]] = {
    "application_id": LARGE,
    "status": None,
    "type": None,
    "batch_id": None,
    "collection_id": None,
    "uri": None,
    "error_code": None,
    "since": None,
    "updated_since": None,
    "pattern": None,
    "metadata": None,
    "before_key": None,
    "before_time": None,
    "before_id": None,
    "oldest_key": None,
    "oldest_time": None,
    "oldest_id": None,
    "limit": 51,
}
_BULK: Final[Mapping[str, Any]] = {
    **_NO_FILTER,
    "action": "delete",
    "target_id": None,
    "new_metadata": Jsonb({}),
    "removed_keys": [],
    "new_chunking": Jsonb({}),
    "longest_metadata": 1,
    "ids": None,
}
_STATES: Final = ["pending", "completed", "failed"]


@pytest.mark.parametrize(
    ("statement", "parameters", "most"),
    [
        # Each row of a page is found, then read.
        (_LIST, _NO_FILTER, 102),
        (_LIST, {**_NO_FILTER, "status": "failed"}, 60),
        (_LIST, {**_NO_FILTER, "batch_id": BATCH}, 210),
        (_LIST, {**_NO_FILTER, "uri": "path/1000"}, 2),
        (_LIST, {**_NO_FILTER, "error_code": "corrupt"}, 12),
        (_LIST, {**_NO_FILTER, "pattern": "%path%"}, 102),
        (_LIST, {**_NO_FILTER, "updated_since": "2999-01-01"}, 0),
        (source_lists.page_statement("updatedAt"), _NO_FILTER, 150),
        (source_lists.page_statement("chunkCount"), _NO_FILTER, 150),
        (source_lists.page_statement("tokenCount"), _NO_FILTER, 150),
        (source_lists.page_statement("sizeBytes"), _NO_FILTER, 150),
        (
            source_lists.page_statement("sizeBytes"),
            {**_NO_FILTER, "before_key": 0, "before_id": UUID(int=1)},
            0,
        ),
        (source_lists.scan_end_statement("createdAt"), {**_NO_FILTER, "scan": 1000}, 1000),
        (source_lists.scan_end_statement("updatedAt"), {**_NO_FILTER, "scan": 1000}, 1050),
        (_LISTS["counts"], {**_NO_FILTER, "statuses": _STATES, "scan": 101}, 303),
        (_BULK_SOURCES["refusals"], {**_BULK, "limit": 101}, 101),
        (_BULK_SOURCES["refusals"], {**_BULK, "ids": [UUID(int=2), UUID(int=4)]}, 2),
        (_LIST, {**_NO_FILTER, "before_key": "2000-01-01", "before_id": BATCH}, 0),
        (_PROGRESS["unfinished_and_newest"], {**_NO_FILTER, "newest": 50, "limit": 500}, 60),
        (_SOURCES["unsettled"], {}, 10),
        (_BATCHES["list"], {**_NO_FILTER, "most": 50, "limit": 10}, 2000),
        (_BATCHES["report"], {**_NO_FILTER, "id": BATCH, "after": 0, "limit": 100}, 250),
    ],
)
def test_a_statement_about_sources_reads_what_it_needs(
    many: psycopg.Connection[Any], statement: bytes, parameters: Mapping[str, Any], most: int
) -> None:
    assert _rows_read(many, statement, parameters) <= most


def test_the_largest_of_what_failed_are_not_looked_for_among_all(
    many: psycopg.Connection[Any],
) -> None:
    """Postgres expects them among the first, but what failed has no chunks."""
    statement = source_lists.page_statement("chunkCount", SourceFilter(status="failed"))
    with many.transaction(force_rollback=True):
        many.execute(
            "update rag.knowledge_sources set status = 'failed', chunk_count = 0 "
            "where application_id = %s and right(uri, 1) = '2'",
            [LARGE],
        )
        many.execute("analyze rag.knowledge_sources")
        read = _rows_read(many, statement, {**_NO_FILTER, "status": "failed"})

    assert read <= 2100


def test_the_nightly_round_does_not_look_for_pages_among_files(
    many: psycopg.Connection[Any],
) -> None:
    statement = b"explain " + _RESCRAPES["nightly"].rstrip(b"; \n")
    with many.transaction(force_rollback=True):
        plan = many.execute(statement, {"after": None, "limit": 500}).fetchall()

    # Servers before 18 would else read all sources.
    assert any("knowledge_sources_nightly_rescrape" in line for (line,) in plan), plan


async def test_list_plans_depend_on_their_filters(conn: Connection, application_id: UUID) -> None:
    owned: dict[str, Any] = {"application_id": application_id, "limit": 10}
    source_id = await add_source(conn, application_id)
    for _ in range(10):  # twice as often as it takes to prepare
        await source_lists.page(conn, where=SourceFilter(), before=None, **owned)
        await source_views.list_documents(conn, source_id=source_id, after=None, **owned)
        await source_views.list_chunks(conn, source_id=source_id, after=None, **owned)
        await crawl_views.list_pages(
            conn, source_id=source_id, crawl_id=None, status=None, after=None, **owned
        )

    cursor = await conn.execute("select statement from pg_prepared_statements")
    assert [row for row in await cursor.fetchall() if "limit" in row[0]] == []


async def test_application_counts_include_every_state(
    conn: Connection, application_id: UUID
) -> None:
    nothing = await progress.of_application(conn, application_id=application_id)
    for count, status in enumerate(get_args(SourceStatus), start=1):
        for _ in range(count):
            await add_source(conn, application_id, status=status)

    counted = await progress.of_application(conn, application_id=application_id)

    assert (nothing.total, nothing.completed, nothing.percent) == (0, 0, None)
    assert get_args(SourceStatus) == (
        *("pending", "processing", "completed", "partial", "failed", "cancelled"),
        "review_needed",
    )
    assert (counted.total, counted.pending, counted.processing) == (28, 1, 2)
    assert (counted.completed, counted.failed) == (3 + 4, 5)
    assert (counted.cancelled, counted.review_needed) == (6, 7)
