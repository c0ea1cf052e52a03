"""Through PgBouncer in transaction mode: everything works, and /readyz says what does not.

The whole folder runs through it with INGEST_TEST_POOLER=transaction or session.
"""

import random
from collections.abc import Callable, Iterator

import pytest

from harness.database import Database
from harness.pgbouncer import PROGRAM, PgBouncer
from harness.service import Service, until
from tests.acceptance.files import sentence, text_file
from tests.acceptance.test_live import Client

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="PgBouncer is not installed")

_FILES = 40


@pytest.fixture
def transaction_mode(database: Database) -> Iterator[str]:
    # Fewer sessions than we keep connections.
    with PgBouncer(database.dsn, mode="transaction", size=4) as pooler:
        yield pooler


def _complete(service: Service, database: Database) -> int:
    """Upload files; how many completed."""
    service.upload(text_file(number) for number in range(_FILES))
    progress = service.wait_until_terminal(database.default_application())
    return int(progress["completed"])


def test_all_works_by_polling_and_readyz_names_the_pooler(
    database: Database, transaction_mode: str, start: Callable[..., Service]
) -> None:
    service = start("serve", DATABASE_URL=transaction_mode).wait_until_ready()
    completed = _complete(service, database)
    sources = service.upload([text_file(1000)])["knowledgeSourceIds"]
    client = Client(service, sources, random.Random(7))
    client.follow(connections=1)
    stored = database.rows(
        "select seq from rag.progress_events where source_id = %s order by 1", sources[0]
    )
    hits = service.search(sentence(7))
    until(lambda: service.get("/readyz")["listenerProblem"] == "transaction_pooler")
    readiness = service.get("/readyz")
    metrics = service.http.get("/metrics").text
    log = service.log.read_text()

    assert completed == _FILES
    assert client.seen[sources[0]] == [seq for (seq,) in stored]
    assert hits[0]["uri"] == text_file(7)[0]
    assert (readiness["status"], readiness["listener"]) == ("degraded", False)
    assert "rag_ingest_listening 0.0" in metrics
    assert [log.count(f'"{event}"') for event in ("pooler.transaction_mode", "listener.deaf")] == [
        1,
        1,
    ]
    assert '"level": "error"' not in log


def test_direct_address_for_listening_makes_it_whole(
    database: Database, transaction_mode: str, start: Callable[..., Service]
) -> None:
    service = start(
        "serve", DATABASE_URL=transaction_mode, INGEST_LISTEN_URL=database.dsn
    ).wait_until_ready()
    until(lambda: service.get("/readyz")["listener"])
    completed = _complete(service, database)
    readiness = service.get("/readyz")

    assert completed == _FILES
    assert (readiness["status"], readiness["listenerProblem"]) == ("ready", None)
