"""An embedding provider that refuses, hangs, flaps or lies: nobody's file fails for it."""

import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from harness.database import Database
from harness.patience import PATIENCE
from harness.service import INGEST, KEY, SHORT_LEASE, Service, clean_environment, until
from tests.acceptance.openai_server import DIMENSION, EmbeddingServer

Start = Callable[..., Service]

FILES = [(f"{n}.txt", f"Lantern {n} of the harbour burns oil {n}.".encode()) for n in range(8)]


def waiting(service: Service) -> list[Any]:
    """The jobs of all files, once each waits for the provider."""

    def all_wait() -> list[Any] | None:
        jobs = list(service.pages("/api/jobs", type="file"))
        reasons = {job["waitReason"] for job in jobs}
        return jobs if jobs and reasons == {"provider_unavailable"} else None

    found: list[Any] = until(all_wait)
    return found


def far_away(database: Database) -> None:
    """As after an outage of hours: nobody would look again by himself before the test is over."""
    database.execute(
        "update rag.processing_jobs set run_at = now() + interval '10 minutes'"
        " where status = 'pending'"
    )
    database.execute("update rag.lanes set paused_until = now() + interval '10 minutes'")


def completed(service: Service, database: Database, *, files: int = len(FILES)) -> None:
    progress = service.wait_until_terminal(database.default_application(), within=PATIENCE)
    assert (progress["completed"], progress["total"]) == (files, files)


def ingest(service: Service, *arguments: str) -> str:
    done = subprocess.run(
        [INGEST, *arguments],
        env={**clean_environment(), "INGEST_URL": service.url, "INGEST_API_KEY": KEY},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout


def test_wrong_provider_key_is_reported_and_a_valid_key_resumes_jobs(
    start: Start, database: Database, openai: EmbeddingServer
) -> None:
    openai.key = "sk-right"
    service = start("serve", **{**openai.env(), "OPENAI_API_KEY": "sk-wrong"}).wait_until_ready()
    until(lambda: service.get("/readyz")["provider"])
    service.upload(FILES)
    jobs = waiting(service)
    source = service.source(jobs[0]["knowledgeSourceId"])
    search = service.http.post("/api/search", json={"query": "lantern"}).json()
    shown = ingest(service, "job", "show", jobs[0]["id"])
    far_away(database)
    service.kill()

    again = start("serve", **{**openai.env(), "OPENAI_API_KEY": "sk-right"}).wait_until_ready()
    completed(again, database)

    assert {job["lastErrorCode"] for job in jobs} == {"embedding_unauthorized"}
    assert {job["attempts"] for job in jobs} == {0}
    assert "HTTP 401 (invalid_api_key): Incorrect API key" in jobs[0]["lastErrorMessage"]
    assert source["waiting"]["code"] == "embedding_unauthorized"
    assert search["degraded"] == ["vector"]
    assert "embedding_unauthorized" in shown
    assert again.get("/readyz")["provider"] is None
    assert service.log.read_text().count("provider.failing") == 1


def test_resume_command_ends_a_quota_pause_for_all_workers(
    start: Start, database: Database, openai: EmbeddingServer
) -> None:
    openai.status, openai.error = 429, {"code": "insufficient_quota", "message": "You exceeded it"}
    api = start("api", **openai.env(), **SHORT_LEASE).wait_until_ready()
    workers = [start("worker", **openai.env(), **SHORT_LEASE) for _ in range(2)]
    api.upload(FILES)
    jobs = waiting(api)
    far_away(database)
    openai.status = 200
    workers[0].kill()

    said = ingest(api, "resume", "--provider")
    completed(api, database)

    assert {job["lastErrorCode"] for job in jobs} == {"embedding_quota"}
    assert said == f"ended 1 pause, resumed {len(FILES)} jobs\n"


def test_retry_probes_the_provider_and_resumes_all_waiting_jobs(
    start: Start, database: Database, openai: EmbeddingServer
) -> None:
    openai.status, openai.error = 404, {"code": "model_not_found"}
    service = start("serve", **openai.env()).wait_until_ready()
    service.upload(FILES)
    jobs = waiting(service)
    openai.status = 200
    far_away(database)

    ingest(service, "job", "retry", jobs[0]["id"])
    completed(service, database)

    assert {job["lastErrorCode"] for job in jobs} == {"embedding_model_missing"}


def test_provider_with_wrong_dimension_fails_no_file(
    start: Start, database: Database, openai: EmbeddingServer
) -> None:
    openai.dimension = 7
    service = start("serve", **openai.env()).wait_until_ready()
    service.upload(FILES)
    jobs = waiting(service)
    openai.dimension = DIMENSION

    completed(service, database)

    assert {job["lastErrorCode"] for job in jobs} == {"embedding_mismatch"}
    assert f"7 dimensions instead of {DIMENSION}" in jobs[0]["lastErrorMessage"]


def test_text_without_usable_vector_does_not_affect_others(
    start: Start, database: Database, openai: EmbeddingServer
) -> None:
    openai.poison = "Lantern 3"
    api = start("api", **openai.env()).wait_until_ready()
    for _ in range(2):
        start("worker", **openai.env())

    api.upload(FILES)
    progress = api.wait_until_terminal(database.default_application())

    assert (progress["completed"], progress["failed"]) == (len(FILES) - 1, 1)
    [failed] = api.pages("/api/jobs", status="failed")
    assert failed["lastErrorCode"] == "embedding_mismatch"
    assert api.source(failed["knowledgeSourceId"])["uri"] == "3.txt"
    assert api.get("/readyz")["provider"] is None


def test_flapping_provider_and_killed_workers_lose_no_file(
    start: Start, database: Database, openai: EmbeddingServer
) -> None:
    api = start("api", **openai.env(), **SHORT_LEASE).wait_until_ready()
    workers = [start("worker", **openai.env(), **SHORT_LEASE) for _ in range(2)]
    openai.delay = 0.2
    for round in range(4):
        openai.status = 503 if openai.status == 200 else 200
        openai.requests = 0
        # There is something to ask the provider for, however much the last round has finished.
        api.upload([(f"{round} {path}", data + b" %d" % round) for path, data in FILES])
        until(lambda: openai.requests)
        workers[round % 2].kill()
        workers[round % 2].restart()
    openai.status = 200

    completed(api, database, files=4 * len(FILES))


@pytest.mark.parametrize("mode", ["hybrid", "vector"])
def test_hanging_provider_is_given_up_quickly(
    start: Start, openai: EmbeddingServer, mode: str
) -> None:
    service = start("serve", **openai.env()).wait_until_ready()
    service.upload(FILES)
    until(lambda: len(service.search("lantern", mode="keyword")) == len(FILES))
    openai.gate.clear()

    answer = service.http.post("/api/search", json={"query": "lantern", "mode": mode})

    # Its own limit, not one of the many longer ones.
    said = "no response within 5 s"
    if mode == "hybrid":
        assert answer.json()["degraded"] == ["vector"]
        assert said in answer.json()["degradedReason"]
        assert len(answer.json()["hits"]) == len(FILES)
    else:
        assert (answer.status_code, answer.json()["code"]) == (503, "embedding_unavailable")
        assert said in answer.json()["detail"]
