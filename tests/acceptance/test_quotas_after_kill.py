"""Quotas hold, and usage stays true, when the service is killed among uploads and deletions."""

import random
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import httpx

from harness.database import Database
from harness.service import SHORT_LEASE, Service, until

_SOURCES = 40
_UPLOADERS = 4
_KILLS = 3
_FIGURES = {
    "sources": "sources",
    "storedBytes": "stored_bytes",
    "stagedBytes": "staged_bytes",
    "pendingJobs": "pending_jobs",
}


class _Crowd:
    """Clients that upload and delete without pause, also while nobody answers."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(number,)) for number in range(_UPLOADERS)
        ]
        self.most_accepted = 0

    def __enter__(self) -> "_Crowd":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _run(self, number: int) -> None:
        chance = random.Random(number)
        with httpx.Client(
            base_url=self._service.url, headers=dict(self._service.http.headers), timeout=5
        ) as http:
            while not self._stop.wait(0.01):
                with suppress(httpx.HTTPError):
                    self._act(http, chance)

    def _act(self, http: httpx.Client, chance: random.Random) -> None:
        # The same paths from all, so that some are new, some are replaced, and some raced.
        parts = [
            ("files", (f"{chance.randrange(3 * _SOURCES)}.txt", chance.randbytes(40).hex() * 50))
            for _ in range(5)
        ]
        answer = http.post("/upload/documents", files=parts)
        if answer.status_code == 202:
            ids = answer.json()["knowledgeSourceIds"]
            self.most_accepted = max(self.most_accepted, len(ids))
            if ids and chance.random() < 0.5:
                for _ in range(2):  # the second must free nothing
                    http.delete(f"/api/knowledge-sources/{ids[0]}")


def _counted(database: Database) -> dict[str, int]:
    """From the rows themselves."""
    columns = ", ".join(f"coalesce(sum({column}), 0)::bigint" for column in _FIGURES.values())
    [row] = database.rows(f"select {columns} from rag.counted_usage")
    return dict(zip(_FIGURES, row, strict=True))


def _wait_for_jobs(database: Database, count: int) -> None:
    until(lambda: database.rows("select count(*) from rag.processing_jobs")[0][0] > count)


def _used(service: Service) -> dict[str, int]:
    usage: Any = service.get("/api/usage")
    return {name: usage[name]["used"] for name in _FIGURES}


def test_usage_is_true_after_kills_among_uploads_and_deletions(
    database: Database, start: Callable[..., Service]
) -> None:
    quotas = f"sources:{_SOURCES}"
    service = start("serve", INGEST_QUOTAS=quotas, **SHORT_LEASE).wait_until_ready()
    with _Crowd(service) as crowd:
        for kill in range(_KILLS):
            # Each time in the midst of work: more was added than the last time.
            _wait_for_jobs(database, 30 * (kill + 1))
            service.kill()
            service.restart()
            service.wait_until_ready()
            assert _counted(database)["sources"] <= _SOURCES
    service.wait_until_terminal(database.default_application())

    used = _used(service)
    assert crowd.most_accepted > 0
    assert used == _counted(database)
    assert 0 < used["sources"] <= _SOURCES
    assert used["pendingJobs"] == 0

    for source in list(service.pages("/api/knowledge-sources")):
        service.http.delete(f"/api/knowledge-sources/{source['id']}")
    until(lambda: _used(service)["pendingJobs"] == 0)
    assert _used(service) == dict.fromkeys(_FIGURES, 0) == _counted(database)
