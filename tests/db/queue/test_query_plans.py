"""What the queue does often costs the same with 1,000,000 jobs: each statement reads few rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Any, Final, get_args
from uuid import UUID

import psycopg
import pytest
from psycopg.types.json import Jsonb

from ingest.model import JobStatus
from ingest.postgres.database import load_queries
from ingest.store.lists import job_lists
from ingest.store.queue import job_views
from ingest.store.queue.job_views import JobFilter
from tests.db.queue.million_jobs import BIG, SMALL, million_jobs, pages_read, rows_read

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


@pytest.fixture(scope="module")
def filled(server: str) -> Iterator[psycopg.Connection[Any]]:
    with million_jobs(server) as filled:
        yield filled


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
    filled: psycopg.Connection[Any], cursor: UUID
) -> None:
    values = {**CLAIM, "cursor": cursor}

    assert rows_read(filled, _CLAIMS["claim"], values) < 40 * BATCH
    assert pages_read(filled, _CLAIMS["claim"], values) < 32 * BATCH


@pytest.mark.parametrize("most_held", [None, 4])
def test_a_claim_for_one_slot_reads_little_more_than_the_jobs_of_its_holders(
    filled: psycopg.Connection[Any], most_held: int | None
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

    assert rows_read(filled, _CLAIMS["claim"], one) < 1_000


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
    filled: psycopg.Connection[Any], statement: bytes, parameters: Mapping[str, Any], most: int
) -> None:
    assert rows_read(filled, statement, parameters) <= most


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
    filled: psycopg.Connection[Any], application_id: UUID, before: int | None
) -> None:
    read = {}
    for conditions in FILTERS:
        where = JobFilter(**conditions)
        page = {"application_id": application_id, "most": 51, "before": before}
        statement = job_views.list_statement(where)
        read[tuple(conditions.items())] = rows_read(filled, statement, {**asdict(where), **page})

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
    filled: psycopg.Connection[Any], application_id: UUID, name: str, most: int
) -> None:
    values = {**COUNT, "application_id": application_id}

    assert rows_read(filled, _COUNTS[name], values) <= most


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
    filled: psycopg.Connection[Any], statement: bytes, parameters: Mapping[str, Any], most: int
) -> None:
    assert rows_read(filled, statement, {**ANY, **parameters}) <= most
