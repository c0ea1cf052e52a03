"""A change of the embedding model under load, with real processes: no query loses its hit.

INGEST_REEMBED_FILES=2000 changes two thousand documents.
"""

import os
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import httpx

from harness.database import Database
from harness.service import SHORT_LEASE, Service, until
from tests.acceptance.openai_server import EmbeddingServer

_FILES = int(os.environ.get("INGEST_REEMBED_FILES", "300"))
_OLD = {"INGEST_EMBEDDING_MODEL": "words-old"}
_NEW = {"INGEST_EMBEDDING_MODEL": "words-new"}


def text_of(number: int) -> str:
    return f"number{number} speaks of subject{number * 7919} and thing{number * 104729}"


@dataclass
class Searchers:
    """Ask for one file after the other, at all replicas, until they are told to stop."""

    replicas: list[Service]
    wanted: dict[str, str]
    """Path and text of files that must be found."""
    lost: list[str] = field(default_factory=list)
    searches: int = 0
    is_over: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, replica: Service, start: int) -> None:
        with httpx.Client(
            base_url=replica.http.base_url, headers=replica.http.headers, timeout=300
        ) as http:
            place = start
            while not self.is_over:
                with self.lock:
                    paths = sorted(self.wanted)
                place = (place + 13) % len(paths)
                self._ask(http, paths[place])

    def _ask(self, http: httpx.Client, path: str) -> None:
        text = self.wanted.get(path)
        if text is None:
            return
        body = {"query": text, "mode": "vector", "limit": 4}
        answer = http.post("/api/search", json=body)
        found = answer.status_code == 200 and path in [hit["uri"] for hit in answer.json()["hits"]]
        with self.lock:
            self.searches += 1
            if not found and path in self.wanted:
                self.lost.append(f"{path}: {answer.status_code} {answer.text[:200]}")


def test_a_change_of_model_under_load_loses_no_hit(
    database: Database, start: Callable[..., Service], openai: EmbeddingServer
) -> None:
    application = database.default_application()
    files = {f"f{number:04}.txt": text_of(number) for number in range(_FILES)}
    before = start("serve", **{**openai.env(), **_OLD, **SHORT_LEASE}).wait_until_ready()
    before.upload([(path, text.encode()) for path, text in files.items()])
    before.wait_until_terminal(application)
    before.end()

    new = {**openai.env(), **_NEW, **SHORT_LEASE}
    replicas = [start("api", **new).wait_until_ready() for _ in range(2)]
    workers = [start("worker", **new) for _ in range(2)]
    searchers = Searchers(replicas, dict(files))
    threads = [
        threading.Thread(target=searchers.run, args=(replica, n), daemon=True)
        for n, replica in enumerate(replicas * 2)
    ]
    with ExitStack() as stack:
        stack.callback(lambda: setattr(searchers, "is_over", True))
        for thread in threads:
            thread.start()
        until(lambda: searchers.searches > 20)
        openai.delay = (
            0.5  # of one of its many requests: it is killed between the first and the last
        )
        [job] = replicas[0].http.post("/api/reembed").json()["jobIds"]
        _disturb(replicas, workers, searchers)
        openai.delay = 0.0
        until(lambda: _job(replicas[0], job)["status"] == "completed")
        after = searchers.searches
        until(lambda: searchers.searches > after + 20)
    for thread in threads:
        thread.join()

    assert searchers.lost == []
    assert _state(replicas[1])["outdated"] == 0
    stored = "select count(*), count(distinct model_id) from rag.embeddings"
    until(lambda: database.rows(stored) == [(_FILES, 1)])  # deleted files are purged by a job
    assert _job(replicas[0], job)["attempts"] <= 3


def _disturb(replicas: list[Service], workers: list[Service], searchers: Searchers) -> None:
    """Kill whoever makes the vectors; add ten files and delete ten."""
    until(lambda: _state(replicas[0])["ready"] > 0)
    for worker in workers:
        worker.kill()
    half_way = _state(replicas[0])
    assert 0 < half_way["ready"] < half_way["outdated"] == _FILES
    time.sleep(1.0)
    for worker in workers:
        worker.restart()
    added = {f"new{number}.txt": text_of(_FILES + number) for number in range(10)}
    replicas[1].upload([(path, text.encode()) for path, text in added.items()])
    for path in sorted(searchers.wanted)[:10]:
        with searchers.lock:
            del searchers.wanted[path]
        [id] = [source["id"] for source in _sources(replicas[0], path)]
        assert replicas[0].http.delete(f"/api/knowledge-sources/{id}").status_code in (202, 204)
    for path in added:
        until(lambda path=path: _is_completed(replicas[0], path))  # type: ignore[misc]
    with searchers.lock:
        searchers.wanted.update(added)


def _is_completed(replica: Service, path: str) -> bool:
    return [source["status"] for source in _sources(replica, path)] == ["completed"]


def _sources(replica: Service, path: str) -> list[Any]:
    answer = replica.http.get("/api/knowledge-sources", params={"uri": path})
    answer.raise_for_status()
    found: list[Any] = answer.json()["items"]
    return found


def _state(replica: Service) -> Any:
    answer = replica.http.get("/api/reembed")
    answer.raise_for_status()
    return answer.json()


def _job(replica: Service, id: str) -> Any:
    answer = replica.http.get(f"/api/jobs/{id}")
    answer.raise_for_status()
    return answer.json()


def test_documents_of_the_local_model_are_quantized_and_back(
    database: Database, start: Callable[..., Service]
) -> None:
    """The earlier of both is built again beside the other until the change is over."""
    files = {"pump.txt": "The oil is changed every spring.", "cat.txt": "A kitten lies on the rug."}
    question = {"query": "Where does the cat sleep?", "mode": "vector"}
    earlier: list[list[str]] = []
    vectors: list[list[Any]] = []
    for embedder in ("local", "quantized", "local"):
        service = start("serve", INGEST_EMBEDDER=embedder, **SHORT_LEASE).wait_until_ready()
        if not vectors:
            service.upload([(path, text.encode()) for path, text in files.items()])
            service.wait_until_terminal(database.default_application())
        else:
            _assert_finds(service, question)
            earlier.append([model["provider"] for model in _state(service)["earlierModels"]])
            [job] = service.http.post("/api/reembed").json()["jobIds"]
            until(lambda: _job(service, job)["status"] == "completed")  # noqa: B023 at once
        _assert_finds(service, question)
        until(lambda: len(_vectors(database)) == len(files))  # the earlier ones are purged by a job
        vectors.append(_vectors(database))
        service.end()

    assert earlier == [["local"], ["quantized"]]
    assert vectors[0] == vectors[2] != vectors[1]


def _assert_finds(service: Service, question: dict[str, str]) -> None:
    answer = service.http.post("/api/search", json=question).json()
    assert [hit["uri"] for hit in answer["hits"]] == ["cat.txt", "pump.txt"]
    assert answer["degraded"] == []


def _vectors(database: Database) -> list[Any]:
    return database.rows(
        "select chunk.content, embedding.embedding::text from rag.embeddings as embedding "
        "join rag.chunks as chunk on chunk.id = embedding.chunk_id order by 1"
    )
