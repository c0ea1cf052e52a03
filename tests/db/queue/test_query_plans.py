"""What the queue does often costs the same with 1,000,000 jobs: each statement reads few rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Any, Final, LiteralString, get_args
from uuid import UUID

import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

from ingest.model import JobStatus
from ingest.postgres.database import load_queries
from ingest.store.lists import job_lists
from ingest.store.queue import job_views
from ingest.store.queue.job_views import JobFilter
from tests.conftest import EMPTY

JOBS: Final = 1_000_000
BIG: Final = UUID(int=1)
"""The application that has nine jobs of ten."""
SMALL: Final = UUID(int=500)
TYPES: Final = ("file", "url", "crawl_page", "purge", "rescrape")
BATCH: Final = 100

_CLAIMS = load_queries("queue/claims.sql")
_JOBS = load_queries("queue/jobs.sql")
_PROGRESS = load_queries("sources/progress.sql")
_CONTROL = load_queries("sources/source_control.sql")
_JOB_CONTROL = load_queries("queue/job_control.sql")
_REQUESTS = load_queries("queue/job_requests.sql")
_COUNTS = load_queries("overview/counts.sql")
_SOURCE_LISTS = load_queries("lists/source_lists.sql")
_BULK = load_queries("bulk/bulk_jobs.sql")

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


@pytest.fixture(scope="module")
def conn(server: str) -> Iterator[psycopg.Connection[Any]]:
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


CLAIM: Final[Mapping[str, Any]] = {
    "types": list(TYPES),
    "allowances": [None] * len(TYPES),
    "batch": BATCH,
    "worker": UUID(int=1),
    "weight_ids": [BIG],
    "weights": [3],
    "held_ids": [],
    "held": [],
    "most_held": None,
    "candidates": BATCH,
}


OWNED: Final = {"application_id": BIG}
WORK: Final[Mapping[str, Any]] = {
    "source_id": UUID(int=77),
    "type": "file",
    "payload": Jsonb({}),
    "priority": 0,
    "delay": None,
}


@pytest.mark.parametrize("cursor", [UUID(int=0), BIG, SMALL, UUID(int=2**128 - 1)])
def test_a_claim_does_not_grow_with_the_backlog(
    conn: psycopg.Connection[Any], cursor: UUID
) -> None:
    values = {**CLAIM, "cursor": cursor}

    assert rows_read(conn, _CLAIMS["claim"], values) < 40 * BATCH
    assert pages_read(conn, _CLAIMS["claim"], values) < 32 * BATCH


@pytest.mark.parametrize("most_held", [None, 4])
def test_a_claim_for_one_slot_reads_little_more_than_the_jobs_of_its_holders(
    conn: psycopg.Connection[Any], most_held: int | None
) -> None:
    holders = [BIG, *(UUID(int=number) for number in range(2, 49))]
    one = {
        **CLAIM,
        "batch": 1,
        "cursor": UUID(int=0),
        "held_ids": holders,
        "held": [16.0] * len(holders),
        "most_held": most_held,
        "candidates": 1 + len(holders),
    }

    assert rows_read(conn, _CLAIMS["claim"], one) < 1_000


@pytest.mark.parametrize(
    ("statement", "parameters", "most"),
    [
        (_CLAIMS["claim_oldest"], {"types": list(TYPES), "worker": UUID(int=1)}, 20),
        (_CLAIMS["ready_types"], {"types": list(TYPES)}, 20),
        (_CLAIMS["next_due"], {}, 1),
        (_CLAIMS["promote"], {}, 2_000),
        (_JOBS["recover"], {"stale_after": timedelta(minutes=2)}, 1_000),
        (_JOBS["release_abandoned"], {"worker": UUID(int=1), "running": []}, 100),
        (_JOBS["resume_parents"], {"ids": [UUID(int=20_000)]}, 2_000),
        (_PROGRESS["sources"], {"application_id": BIG, "ids": [UUID(int=1)]}, 4_000),
        (_CLAIMS["allowances"], {"types": ["notification"]}, 10),
        (_CONTROL["retryable"], {**OWNED, "job_ids": [UUID(int=9)], "batch_id": None}, 10),
        (_CONTROL["retryable"], {**OWNED, "job_ids": [], "batch_id": UUID(int=77)}, 1_000),
        (_REQUESTS["waiting_duplicate"], {**OWNED, **WORK}, 10),
        (_JOB_CONTROL["blobs_of_jobs"], {"keys": ["of no job"]}, 1),
    ],
)
def test_a_statement_of_the_queue_reads_what_it_needs(
    conn: psycopg.Connection[Any], statement: bytes, parameters: Mapping[str, Any], most: int
) -> None:
    assert rows_read(conn, statement, parameters) <= most


FILTERS: Final[Sequence[Mapping[str, Any]]] = (
    {},
    *({"status": status} for status in get_args(JobStatus)),
    {"type": "file"},
    {"type": "purge"},
    {"type": "notification"},
    {"source_id": UUID(int=77)},
    {"batch_id": UUID(int=77)},
    {"parent_id": UUID(int=20_000)},
    {"error_code": "corrupt"},
    {"error_code": "too_large"},
    {"status": "failed", "type": "file"},
    {"status": "failed", "type": "purge"},
    {"status": "pending", "type": "purge"},
    {"status": "processing", "type": "url"},
    {"status": "completed", "type": "notification"},
    {"status": "failed", "error_code": "no_text"},
    {"type": "url", "error_code": "corrupt"},
    {"status": "failed", "type": "url", "error_code": "corrupt"},
    {"status": "failed", "batch_id": UUID(int=77)},
    {"status": "failed", "source_id": UUID(int=77)},
    {"batch_id": UUID(int=77), "error_code": "corrupt"},
)


@pytest.mark.parametrize("application_id", [BIG, SMALL])
@pytest.mark.parametrize("before", [None, 300_000])
def test_lists_read_little_more_than_they_show(
    conn: psycopg.Connection[Any], application_id: UUID, before: int | None
) -> None:
    read = {}
    for conditions in FILTERS:
        where = JobFilter(**conditions)
        page = {"application_id": application_id, "most": 51, "before": before}
        statement = job_views.list_statement(where)
        read[tuple(conditions.items())] = rows_read(conn, statement, {**asdict(where), **page})

    # Of 1,000,000; which of two conditions is the better index depends on a sample.
    assert {what: rows for what, rows in read.items() if rows > 5_000} == {}


COUNTED: Final = 101
COUNT: Final[Mapping[str, Any]] = {"bound": COUNTED, "most": 50}


@pytest.mark.parametrize(
    ("name", "most"),
    [
        # Three types have ready jobs; each running job is looked at.
        ("types", 3 * COUNTED + 520),
        # Two reasons, found one after the other.
        ("waiting", 2 * COUNTED + 4),
        ("failures", COUNTED),
        ("reviews", COUNTED),
    ],
)
@pytest.mark.parametrize("application_id", [BIG, SMALL, UUID(int=0)])
def test_counts_of_an_overview_stop_at_their_bound(
    conn: psycopg.Connection[Any], application_id: UUID, name: str, most: int
) -> None:
    values = {**COUNT, "application_id": application_id}

    assert rows_read(conn, _COUNTS[name], values) <= most


ANY: Final[Mapping[str, Any]] = {
    **OWNED,
    **{name: None for name in asdict(JobFilter()) if name not in ("text", "metadata")},
    "pattern": None,
    "metadata": None,
    "before": None,
    "oldest": 0,
    "ids": None,
}


@pytest.mark.parametrize(
    ("statement", "parameters", "most"),
    [
        # Each index has its newest thousand; the newest of them all are found, then joined.
        (job_lists.scan_end_statement(JobFilter()), {"most": 1_000}, 12_000),
        (
            job_lists.search_statement(JobFilter()),
            {"pattern": "%x%", "most": 1_000, "limit": 51},
            12_000,
        ),
        (
            job_lists.search_statement(JobFilter(error_code="corrupt")),
            {"error_code": "corrupt", "pattern": "%x%", "most": 1_000, "limit": 51},
            5_000,
        ),
        (_BULK["refusals"], {"action": "retry", "ids": [UUID(int=9)], "status": "failed"}, 10),
        (_BULK["refusals"], {"action": "delete", "ids": [UUID(int=n) for n in range(500)]}, 600),
        (
            _SOURCE_LISTS["children"],
            {"id": UUID(int=1), "statuses": ["completed", "failed"], "limit": 1_001},
            5_000,
        ),
    ],
)
def test_searches_and_bulk_actions_read_a_bounded_part(
    conn: psycopg.Connection[Any], statement: bytes, parameters: Mapping[str, Any], most: int
) -> None:
    assert rows_read(conn, statement, {**ANY, **parameters}) <= most
