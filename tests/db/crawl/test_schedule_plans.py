"""Lists of schedules read what they show, however many sources and firings there are."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import AsyncClientCursor

from ingest.postgres.database import Connection, load_queries

_VIEWS = load_queries("crawl/crawl_views.sql")
_FIRINGS = load_queries("limits/schedules.sql")

_SOURCES = """
insert into rag.knowledge_sources
    (id, application_id, type, name, uri, rescrape_cron, rescrape_timezone, next_rescrape_at)
select gen_random_uuid(), %s, 'url', 'n', 'https://s.example/' || n,
       case when n %% 4 = 0 then '0 6 * * *' end, case when n %% 4 = 0 then 'UTC' end,
       case when n %% 2 = 0 then now() + n * interval '1 second' end
  from generate_series(1, 20000) n
"""
_TICKS = """
insert into rag.schedules (name, scheduled_for)
select name, now() - n * interval '2 seconds'
  from unnest(array['index-terms', 'prune', 'recount-usage']) as name, generate_series(1, 10000) n
"""


async def most_rows(conn: Connection, statement: bytes, parameters: dict[str, Any]) -> int:
    """The most rows that a node of the plan has returned or thrown away."""
    explained = b"explain (analyze, timing off, format json) " + statement.rstrip(b"; \n")
    async with AsyncClientCursor(conn) as cur:
        row = await (await cur.execute(explained, parameters)).fetchone()
    assert row is not None
    return max(_rows(row[0][0]["Plan"]))


def _rows(plan: dict[str, Any]) -> list[int]:
    own = (plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)) * plan["Actual Loops"]
    return [int(own), *(rows for part in plan.get("Plans", []) for rows in _rows(part))]


async def test_page_of_schedules_reads_the_page(conn: Connection, application_id: UUID) -> None:
    await conn.execute(_SOURCES, [application_id])
    await conn.execute("analyze rag.knowledge_sources")
    middle = datetime.now(UTC) + timedelta(seconds=10_000)
    page = {"application_id": application_id, "limit": 51}

    first = {**page, "after_time": None, "after_id": None}
    later = {**page, "after_time": middle, "after_id": UUID(int=0)}

    for parameters in (first, later):
        assert await most_rows(conn, _VIEWS["scheduled"], parameters) <= 60


async def test_last_firings_do_not_read_all_firings(conn: Connection) -> None:
    await conn.execute(_TICKS)
    await conn.execute("analyze rag.schedules")

    assert await most_rows(conn, _FIRINGS["last_firings"], {}) <= 10
