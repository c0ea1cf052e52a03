"""(e) Delete and cancel are final in each stage. (f) Old content stays until the new is there."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import psycopg
import pytest

from harness.database import Database
from harness.patience import PATIENCE
from harness.service import Service, services, until
from tests.acceptance.files import sentence, text_file
from tests.acceptance.openai_server import EmbeddingServer, embedding_server

_STAGES = ("extract", "embed", "store")


@pytest.fixture(scope="module")
def openai() -> Iterator[EmbeddingServer]:
    with embedding_server() as server:
        yield server


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    database = Database(tmp_path_factory.mktemp("server"))
    yield database
    database.close()


@pytest.fixture(scope="module")
def service(
    tmp_path_factory: pytest.TempPathFactory, database: Database, openai: EmbeddingServer
) -> Iterator[Service]:
    """One for all tests here: each has sources of its own and leaves nothing open."""
    env = {"DATABASE_URL": database.service_dsn, **openai.env()}
    with services(data=tmp_path_factory.mktemp("data"), env=env) as start:
        service = start("serve").wait_until_ready()
        service.upload([text_file(1)])  # warms the parser children up
        until(lambda: service.search(sentence(1), mode="keyword"))
        yield service


@dataclass(frozen=True, slots=True)
class Hold:
    """A stage in which jobs are made to stop."""

    is_reached: Callable[[], bool]
    release: Callable[[], None]


@contextmanager
def _held_in_extract(service: Service, database: Database) -> Iterator[Hold]:
    until(lambda: _parsers(service))
    stopped = _parsers(service)
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)

    def release() -> None:
        # A cancelled attempt has killed its child already.
        for pid in set(stopped) & set(_parsers(service)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    try:
        yield Hold(
            lambda: bool(
                database.rows("select 1 from rag.processing_jobs where stage = 'extract'")
            ),
            release,
        )
    finally:
        release()


def _parsers(service: Service) -> list[int]:
    """The parser processes of a service: forked, or started before the fork server was ready."""
    listing = subprocess.run(
        ["ps", "-e", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    )
    rows = [line.split(maxsplit=2) for line in listing.stdout.splitlines()]
    own = [(pid, args) for pid, parent, args in rows if int(parent) == service.process.pid]
    servers = {pid for pid, args in own if "ingest.sandbox.fork_server" in args}
    started = [pid for pid, args in own if "ingest.sandbox.child" in args]
    return [int(pid) for pid in (*started, *(pid for pid, parent, _ in rows if parent in servers))]


@contextmanager
def _held_in_embed(openai: EmbeddingServer) -> Iterator[Hold]:
    openai.gate.clear()
    try:
        yield Hold(lambda: openai.waiting == 1, openai.gate.set)
    finally:
        openai.gate.set()


@contextmanager
def _held_in_store(database: Database) -> Iterator[Hold]:
    with psycopg.connect(database.dsn) as blocker:
        blocker.execute("lock table rag.chunks in share mode")
        yield Hold(
            lambda: bool(
                database.rows(
                    "select 1 from pg_stat_activity where wait_event_type = 'Lock' "
                    "and query ilike '%%insert into rag.chunks%%'"
                )
            ),
            blocker.rollback,
        )


_CASES = [(action, stage) for action in ("cancel", "delete") for stage in _STAGES]


@pytest.mark.parametrize(("action", "stage"), _CASES)
def test_cancel_and_delete_are_final_in_each_stage(
    service: Service, database: Database, openai: EmbeddingServer, action: str, stage: str
) -> None:
    number = 100 + _CASES.index((action, stage))
    holds = {
        "extract": lambda: _held_in_extract(service, database),
        "embed": lambda: _held_in_embed(openai),
        "store": lambda: _held_in_store(database),
    }
    with holds[stage]() as hold, ThreadPoolExecutor(1) as pool:
        [source] = service.upload([text_file(number)])["knowledgeSourceIds"]
        until(hold.is_reached)
        request = pool.submit(_act, service, source, action)
        if stage == "store":
            # The commit under way comes first: the request waits for it.
            until(lambda: _blocked_requests(database))
            hold.release()
        answer = request.result(PATIENCE)
    until(lambda: _is_quiet(database))
    hits = [hit["knowledgeSourceId"] for hit in service.search(sentence(number), mode="keyword")]

    chunks = database.count("select count(*) from rag.chunks where source_id = %s", source)
    if action == "delete":
        assert answer == 204
        assert service.http.get(f"/api/knowledge-sources/{source}").status_code == 404
        assert (source in hits, chunks) == (False, 0)
    elif stage == "store":
        assert (answer, service.source(source)["status"]) == (409, "completed")
        assert source in hits
    else:
        assert answer == 200
        assert service.source(source)["status"] == "cancelled"
        assert (source in hits, chunks) == (False, 0)


def _act(service: Service, source: str, action: str) -> int:
    path = f"/api/knowledge-sources/{source}"
    if action == "delete":
        return int(service.http.delete(path).status_code)
    return int(service.http.post(f"{path}/cancel").status_code)


def _blocked_requests(database: Database) -> bool:
    return bool(
        database.rows(
            "select 1 from pg_stat_activity where wait_event_type = 'Lock' "
            "and query not ilike '%%insert into rag.chunks%%'"
        )
    )


def _is_quiet(database: Database) -> bool:
    """Nothing is open any more, and deleted sources are gone for good."""
    return not database.rows(
        "select id from rag.processing_jobs where status in ('pending', 'processing') "
        "union all select id from rag.knowledge_sources where deleted_at is not null"
    )


def test_a_second_upload_that_fails_leaves_the_old_chunks_searchable(
    service: Service, openai: EmbeddingServer
) -> None:
    [source] = service.upload([("a.txt", b"The old harbour has nine lanterns.")])[
        "knowledgeSourceIds"
    ]
    service.wait_until_terminal(source)
    openai.status = 400
    [again] = service.upload([("a.txt", b"The new harbour has seven lanterns.")])[
        "knowledgeSourceIds"
    ]
    service.wait_until_terminal(source)
    failed = service.source(source)
    old = service.search("nine lanterns", mode="keyword")[0]
    openai.status = 200
    retried = service.upload([("a.txt", b"The new harbour has seven lanterns.")])
    service.wait_until_terminal(source)

    assert again == source
    assert (failed["status"], failed["errorCode"]) == ("failed", "embedding_rejected")
    assert old["content"] == "The old harbour has nine lanterns."
    assert retried["files"][0]["verdict"] == "accepted"
    contents = [hit["content"] for hit in service.search("seven lanterns", mode="keyword")]
    assert contents[0] == "The new harbour has seven lanterns."
    assert old["content"] not in contents
