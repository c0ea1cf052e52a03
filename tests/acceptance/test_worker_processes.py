"""`ingest serve` with worker processes and embedded Postgres: killed, stopped, misconfigured."""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest
from prometheus_client.parser import text_string_to_metric_families

from benchmarks.core.processes import family
from harness.patience import PATIENCE
from harness.service import Service, services, until
from tests.acceptance.files import text_file
from tests.acceptance.openai_server import EmbeddingServer

_SLOTS = 5
_FILES = [text_file(number) for number in range(8)]


@pytest.fixture
def start(tmp_path: Path, openai: EmbeddingServer) -> Iterator[Callable[..., Service]]:
    """Start `ingest serve` on an embedded Postgres, with two worker processes."""
    env = {
        **openai.env(),
        "INGEST_WORKER_PROCESSES": "2",
        "INGEST_WORKER_CONCURRENCY": str(_SLOTS),
    }
    with services(data=tmp_path, env=env) as starter:
        yield lambda **more: starter("serve", **more)


def _workers(service: Service) -> dict[int, Any]:
    """The workers that the API shows, by process id."""
    return {worker["pid"]: worker for worker in service.get("/api/workers")["items"]}


def _wait_until_complete(service: Service) -> dict[int, Any]:
    until(lambda: service.get("/readyz")["workerProcesses"]["running"] == 2)
    return _workers(service)


def _query(service: Service, query: str) -> list[Any]:
    cluster = service.data / "postgres/cluster"
    with psycopg.connect(host=str(cluster), user="postgres", dbname="postgres") as conn:
        return conn.execute(query.encode()).fetchall()


def _holders(service: Service) -> dict[int, int]:
    """Running jobs of each worker, by process id."""
    rows = _query(
        service,
        "select worker.pid, count(*) from rag.processing_jobs as job"
        " join rag.workers as worker on worker.id = job.locked_by"
        " where job.status = 'processing' group by worker.pid",
    )
    return dict(rows)


def _attempts(service: Service) -> list[int]:
    rows = _query(service, "select attempts from rag.processing_jobs where type = 'file'")
    return [count for (count,) in rows]


def _hold_all_slots(service: Service, openai: EmbeddingServer) -> dict[int, int]:
    """Upload, and let the jobs wait for the provider; returns the jobs of each worker."""
    openai.gate.clear()
    service.upload(_FILES)

    def all_taken() -> dict[int, int] | None:
        holders = _holders(service)
        return holders if sum(holders.values()) == _SLOTS and openai.waiting >= 2 else None

    taken: dict[int, int] = until(all_taken)
    return taken


def _completed(service: Service, openai: EmbeddingServer) -> int:
    openai.gate.set()
    [first, *_] = service.get("/api/knowledge-sources")["items"]
    progress = service.wait_until_terminal(first["applicationId"])
    completed: int = progress["completed"]
    return completed


def _counted(service: Service, name: str) -> float:
    text = service.http.get("/metrics").raise_for_status().text
    families = text_string_to_metric_families(text)
    return sum(sample.value for one in families for sample in one.samples if sample.name == name)


def _are_gone(pids: Sequence[int]) -> bool:
    return not any(Path(f"/proc/{pid}/cmdline").exists() and _runs(pid) for pid in pids)


def _runs(pid: int) -> bool:
    """Whether it is not a zombie that nobody has reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_slots_connections_health_and_metrics_are_those_of_all_worker_processes(
    start: Callable[..., Service], openai: EmbeddingServer
) -> None:
    service = start().wait_until_ready()
    found = _wait_until_complete(service)
    service.upload(_FILES)
    completed = _completed(service, openai)
    ready = service.get("/readyz")
    [(most,)] = _query(service, "select current_setting('max_connections')::int")

    assert service.process.pid not in found
    assert set(found) <= set(family(service.process.pid))
    assert sorted(worker["slots"] for worker in found.values()) == [2, 3]
    assert ready["workerProcesses"] == {"configured": 2, "running": 2, "restarts": 0}
    assert (ready["workers"], ready["status"]) == (2, "ready")
    assert completed == len(_FILES)
    # Of the workers and of the API, at one address.
    assert _counted(service, "rag_ingest_attempts_total") == len(_FILES)
    assert _counted(service, "rag_ingest_http_requests_total") > 0
    assert most == 100 + (4 + 2 + 2) + (4 + 3 + 2)


def test_a_killed_worker_process_is_started_again_and_its_jobs_are_done(
    start: Callable[..., Service], openai: EmbeddingServer
) -> None:
    # The lease is two minutes; the jobs do not wait for its end.
    service = start().wait_until_ready()
    before = _wait_until_complete(service)
    service.upload([text_file(99)])
    _completed(service, openai)
    counted = _counted(service, "rag_ingest_attempts_total")
    held = _hold_all_slots(service, openai)
    victim, survivor = held

    os.kill(victim, signal.SIGKILL)
    until(lambda: service.get("/readyz")["workerProcesses"]["restarts"] == 1)
    after = _wait_until_complete(service)
    completed = _completed(service, openai)

    assert set(before) == {victim, survivor}
    assert survivor in after
    assert victim not in after
    assert len(after) == 2
    assert completed == len(_FILES) + 1
    assert sum(_attempts(service)) == len(_FILES) + 1 + held[victim]
    assert counted == 1
    # What the killed one had counted when it was last asked stays in the sum.
    assert _counted(service, "rag_ingest_attempts_total") == len(_FILES) + 1


def test_nothing_is_left_of_a_killed_service_and_its_jobs_are_done_by_the_next(
    start: Callable[..., Service], openai: EmbeddingServer
) -> None:
    service = start(INGEST_HEARTBEAT="0.5", INGEST_STALE_AFTER="4").wait_until_ready()
    _wait_until_complete(service)
    frozen, _ = _hold_all_slots(service, openai)
    everyone = family(service.process.pid)

    os.kill(frozen, signal.SIGSTOP)  # it cannot notice anything
    service.kill()
    until(lambda: _are_gone(everyone))
    service.restart()
    service.wait_until_ready()

    assert len(everyone) > 3
    assert _completed(service, openai) == len(_FILES)


@pytest.mark.parametrize("to_all", [False, True], ids=["to the service", "to its workers too"])
def test_a_stop_gives_all_jobs_back_and_leaves_no_process(
    start: Callable[..., Service], openai: EmbeddingServer, to_all: bool
) -> None:
    service = start().wait_until_ready()
    found = _wait_until_complete(service)
    _hold_all_slots(service, openai)
    everyone = family(service.process.pid)

    service.send(signal.SIGTERM)
    if to_all:  # as systemd does
        for pid in found:
            os.kill(pid, signal.SIGTERM)
    code = service.process.wait(PATIENCE)
    left = [pid for pid in everyone if _runs(pid)]
    service.restart()
    service.wait_until_ready()
    completed = _completed(service, openai)

    assert code == 0
    assert left == []
    assert "worker_process.killed" not in service.log.read_text()
    assert completed == len(_FILES)
    # Given back, not lost: no attempt was spent.
    assert _attempts(service) == [1] * len(_FILES)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"INGEST_WORKER_PROCESSES": "many"}, "INGEST_WORKER_PROCESSES"),
        ({"INGEST_WORKER_PROCESSES": "6"}, "at most INGEST_WORKER_CONCURRENCY (5)"),
        # What only a worker reads is found by the worker process, and ends the service.
        ({"INGEST_HANDLERS": "no_such_module"}, "no_such_module"),
    ],
)
def test_wrong_settings_end_the_service_with_one_line(
    start: Callable[..., Service], wrong: dict[str, str], message: str
) -> None:
    service = start(**wrong)
    code = service.process.wait(PATIENCE)
    lines = [line for line in service.log.read_text().splitlines() if line.startswith("ingest: ")]

    assert code == 2
    assert message in lines[0]
    assert "Traceback" not in service.log.read_text()


def test_a_port_in_use_and_a_second_service_of_the_folder_are_refused(
    start: Callable[..., Service],
) -> None:
    first = start().wait_until_ready()
    before = _wait_until_complete(first)
    same_port = start(INGEST_PORT=str(first.port))
    same_folder = start()
    codes = [service.process.wait(PATIENCE) for service in (same_port, same_folder)]

    assert codes == [2, 2]
    assert f"INGEST_PORT: port {first.port}" in same_port.log.read_text()
    assert f"in use by another process (pid {first.process.pid})" in same_folder.log.read_text()
    assert _workers(first).keys() == before.keys()
