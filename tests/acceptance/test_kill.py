"""(b) Workers killed at random, (d) one that was frozen and comes back too late.

INGEST_KILLS=20 kills twenty times, in the midst of 500 files.
"""

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.database import Database
from harness.service import SHORT_LEASE, Service, services, until
from ingest.settings.settings import Settings
from tests.acceptance.files import text_file
from tests.acceptance.openai_server import EmbeddingServer

_KILLS = int(os.environ.get("INGEST_KILLS", "5"))
_FILES = 25 * _KILLS


def _chunks(database: Database) -> list[tuple[str, int, str]]:
    """Everything that is searchable, as (path, ordinal, text)."""
    return database.rows(
        "select document.uri, chunk.ordinal, chunk.content from rag.chunks as chunk "
        "join rag.documents as document on document.id = chunk.document_id "
        "join rag.embeddings as stored on stored.chunk_id = chunk.id order by 1, 2"
    )


def _busy(database: Database, workers: list[Service]) -> list[Service]:
    """Those of the workers that hold jobs now."""
    pids = {
        pid
        for (pid,) in database.rows(
            "select distinct worker.pid from rag.processing_jobs as job "
            "join rag.workers as worker on worker.id = job.locked_by "
            "where job.status = 'processing'"
        )
    }
    return [worker for worker in workers if worker.process.pid in pids]


def _files() -> list[tuple[str, bytes]]:
    return [text_file(number, paragraphs=12) for number in range(_FILES)]


def _undisturbed(folder: Path, openai: EmbeddingServer) -> list[tuple[str, int, str]]:
    data = folder / "data"
    data.mkdir(parents=True)
    database = Database(folder / "server")
    try:
        with services(
            data=data, env={"DATABASE_URL": database.service_dsn, **openai.env()}
        ) as start:
            service = start("serve").wait_until_ready()
            service.upload(_files())
            service.wait_until_terminal(database.default_application())
            return _chunks(database)
    finally:
        database.close()


def test_no_file_is_lost_and_no_chunk_doubled_when_workers_are_killed_again_and_again(
    tmp_path: Path, database: Database, start: Callable[..., Service], openai: EmbeddingServer
) -> None:
    openai.delay = 0.4
    rng = random.Random(20)
    api = start("api", **openai.env()).wait_until_ready()
    workers = [start("worker", **openai.env(), **SHORT_LEASE) for _ in range(2)]
    application = database.default_application()
    files = _files()

    for kill in range(_KILLS):
        # There is something to do, however much was done since the last kill.
        api.upload(files[kill::_KILLS])
        # At a random moment while it holds jobs: in a claim, an extraction, a request, a commit.
        busy = until(lambda: _busy(database, workers), every=0.03)
        time.sleep(rng.uniform(0.0, 0.5))
        victim = rng.choice(busy)
        victim.kill()
        victim.restart()
    progress = api.wait_until_terminal(application)
    attempts = database.rows("select attempts from rag.processing_jobs where type = 'file'")
    chunks = _chunks(database)

    assert (progress["completed"], progress["failed"]) == (_FILES, 0)
    assert all(1 <= count <= 5 for (count,) in attempts)
    slots = Settings().worker_concurrency
    # Every attempt beyond the first is one that a killed worker held.
    assert _KILLS / 2 < sum(count - 1 for (count,) in attempts) <= _KILLS * slots
    openai.delay = 0.0
    assert chunks == _undisturbed(tmp_path / "undisturbed", openai)
    assert database.count("select count(*) from rag.embeddings") == len(chunks)


@pytest.mark.parametrize("ending", ["completed elsewhere", "deleted"])
def test_a_worker_that_was_frozen_past_its_lease_can_write_nothing(
    database: Database, start: Callable[..., Service], openai: EmbeddingServer, ending: str
) -> None:
    api = start("api", **openai.env()).wait_until_ready()
    frozen = start("worker", **openai.env(), **SHORT_LEASE)
    until(lambda: openai.requests >= 2)  # each has asked whether the provider is there
    openai.gate.clear()
    [source] = api.upload([text_file(1)])["knowledgeSourceIds"]
    until(lambda: openai.waiting == 1)

    frozen.send(signal.SIGSTOP)
    openai.gate.set()  # the answer arrives while nobody reads it
    if ending == "deleted":
        assert api.http.delete(f"/api/knowledge-sources/{source}").status_code == 204
    start("worker", **openai.env(), **SHORT_LEASE)
    if ending == "deleted":
        until(lambda: database.count("select count(*) from rag.knowledge_sources") == 0)
    else:
        api.wait_until_terminal(source)
    before = _state(database)
    frozen.send(signal.SIGCONT)
    until(lambda: "lease_lost" in frozen.log.read_text() or "dropped" in frozen.log.read_text())
    time.sleep(1.0)  # time in which it would write, if it could

    assert _state(database) == before
    if ending == "completed elsewhere":
        [job] = api.get("/api/jobs", knowledgeSourceId=source)["items"]
        assert (job["status"], job["attempts"]) == ("completed", 2)


def _state(database: Database) -> list[tuple[object, ...]]:
    """Whatever a late writer could have changed."""
    return [
        *database.rows("select id, fence, status from rag.processing_jobs order by 1"),
        *database.rows("select id, embedded_hash from rag.chunks order by 1"),
        *database.rows("select source_id, seq from rag.progress_events order by 1, 2"),
    ]
