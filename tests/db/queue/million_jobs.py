"""A database with a million jobs, and how much of it a statement reads."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, LiteralString
from uuid import UUID

import psycopg
from psycopg import sql

from tests.conftest import EMPTY

JOBS: Final = 1_000_000
BIG: Final = UUID(int=1)
"""The application that has nine jobs of ten."""
SMALL: Final = UUID(int=500)

# Deterministic: what a job is follows from its number. 50,000 are ready, 20,000 wait for a time,
# 500 are held by 50 workers of which one is silent, 20,000 have failed with five codes.
_LOAD: Final[Sequence[LiteralString]] = (
    "set session_replication_role = replica",
    "set synchronous_commit = off",
    "set maintenance_work_mem = '256MB'",
    "alter table rag.processing_jobs set (autovacuum_enabled = false)",
    "delete from app.applications",
    "insert into app.applications (id, name, is_default) "
    "select lpad(to_hex(n), 32, '0')::uuid, 'application', n = 1 from generate_series(1, 1000) n",
    "insert into rag.workers (id, host, pid, heartbeat_at) "
    "select lpad(to_hex(n), 32, '0')::uuid, 'h', n, "
    "       case when n = 7 then now() - interval '1 hour' else now() end "
    "  from generate_series(1, 50) n",
    """
    insert into rag.processing_jobs
        (id, application_id, knowledge_source_id, batch_id, parent_job_id, type, status, priority,
         attempts, max_attempts, run_at, wait_reason, locked_by, locked_at, last_error_code,
         created_at, started_at, completed_at)
    select lpad(to_hex(n), 32, '0')::uuid,
           lpad(to_hex(case when n % 10 > 0 then 1 else 2 + n / 10 % 999 end), 32, '0')::uuid,
           lpad(to_hex(n / 5), 32, '0')::uuid,
           case when n % 20 > 1 then lpad(to_hex(n / 1000), 32, '0')::uuid end,
           case when n % 20 = 1 then lpad(to_hex(n - n % 20000), 32, '0')::uuid end,
           case when n % 20 = 1 then 'crawl_page' when n % 50 = 0 or n % 750 = 9 then 'url'
                when n % 1000 = 7 then 'purge' else 'file' end,
           state.name, case when n % 30 = 0 then -10 when n % 1000 = 3 then 50 else 0 end,
           case when state.name = 'pending' then 0 else 1 end, 5,
           case when state.is_scheduled then now() + (n % 4000 - 500) * interval '1 minute' end,
           case when state.is_scheduled
                then case when n % 200 = 41 then 'retry' else 'scheduled' end end,
           case when state.name = 'processing'
                then lpad(to_hex(1 + n / 2000 % 50), 32, '0')::uuid end,
           case when state.name = 'processing' then now() end,
           case when state.name = 'failed'
                then (array['corrupt', 'no_text', 'encrypted', 'internal', 'fetch_status'])
                     [1 + n / 50 % 5] end,
           now() - n * interval '1 second',
           case when state.name <> 'pending' then now() - n * interval '1 second' end,
           case when state.name not in ('pending', 'processing')
                then now() - n * interval '1 second' end
      from generate_series(1, 1000000) n
     cross join lateral (
        select case when n % 2000 = 11 then 'processing'
                    when n % 20 = 3 or n % 100 = 50 or n % 100 = 41 then 'pending'
                    when n % 50 = 9 then 'failed'
                    when n % 1000 = 17 then 'review_needed'
                    when n % 200 = 19 then 'cancelled'
                    else 'completed' end as name,
               n % 100 = 50 or n % 100 = 41 as is_scheduled) as state
    """,
    # A site with a run of 1,000 pages.
    "insert into rag.knowledge_sources (id, application_id, type, name, uri, current_job_id) "
    "values (lpad('1', 32, '0')::uuid, lpad('1', 32, '0')::uuid, 'site', 's', 'https://s/', "
    "        lpad(to_hex(20000), 32, '0')::uuid)",
)


@contextmanager
def million_jobs(server: str) -> Iterator[psycopg.Connection[Any]]:
    """A database with a million jobs; what is explained on it is rolled back."""
    with psycopg.connect(server, autocommit=True, cursor_factory=psycopg.ClientCursor) as conn:
        conn.execute(EMPTY)
        indexes = _drop_indexes(conn)
        for statement in _LOAD:
            conn.execute(statement)
        for definition in indexes:
            conn.execute(definition)
        conn.execute("analyze rag.processing_jobs, app.applications, rag.workers, rag.job_types")
        conn.execute("set session_replication_role = origin")
        yield conn
        conn.execute("alter table rag.processing_jobs reset (autovacuum_enabled)")
        conn.execute(EMPTY)


def _drop_indexes(conn: psycopg.Connection[Any]) -> list[bytes]:
    """To build them afterwards takes a third of the time; the statements that do."""
    rows = conn.execute(
        "select indexrelid::regclass::text, pg_get_indexdef(indexrelid) from pg_index "
        "where indrelid = 'rag.processing_jobs'::regclass and not indisprimary"
    ).fetchall()
    for name, _ in rows:
        conn.execute(sql.SQL("drop index {}").format(sql.Identifier(*name.split("."))))
    return [definition.encode() for _, definition in rows]


def rows_read(
    conn: psycopg.Connection[Any], statement: bytes, parameters: Mapping[str, Any]
) -> int:
    """Rows of jobs that a statement looks at. Fails if it reads the whole table."""
    return sum(_looked_at(node) for node in _nodes(_plan_run(conn, statement, parameters)))


def pages_read(
    conn: psycopg.Connection[Any], statement: bytes, parameters: Mapping[str, Any]
) -> int:
    """Accesses to pages of tables and indexes."""
    plan = _plan_run(conn, statement, parameters)
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


def _plan_run(
    conn: psycopg.Connection[Any], statement: bytes, parameters: Mapping[str, Any]
) -> dict[str, Any]:
    with conn.transaction(force_rollback=True):
        conn.execute("set local jit = off")
        explain = b"explain (analyze, buffers, timing off, format json) "
        explained = explain + statement.rstrip(b"; \n")
        row = conn.execute(explained, parameters).fetchone()
    assert row is not None
    plan: dict[str, Any] = row[0][0]["Plan"]
    return plan


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", []):
        yield from _nodes(part)


def _looked_at(node: dict[str, Any]) -> int:
    if node.get("Relation Name") != "processing_jobs" or node["Node Type"] == "ModifyTable":
        return 0
    assert node["Node Type"] != "Seq Scan", node
    removed = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    return int((node["Actual Rows"] + removed) * node["Actual Loops"])
