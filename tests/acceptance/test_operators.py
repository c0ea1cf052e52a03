"""What operators rely on, with two workers: turns, pause, time-outs, poison, replays, webhooks."""

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks import Webhook

from harness.pools import pool_across_applications
from harness.service import Service, until
from tests.acceptance.counting_provider import CountingProvider, counting_provider
from tests.acceptance.files import text_file
from tests.acceptance.openai_server import EmbeddingServer, embedding_server
from tests.acceptance.two_workers import TwoWorkers, settle, two_workers
from tests.support.retention_fixtures import clean


@pytest.fixture(scope="module")
def openai() -> Iterator[EmbeddingServer]:
    with embedding_server() as server:
        yield server


@pytest.fixture(scope="module")
def house(
    tmp_path_factory: pytest.TempPathFactory, openai: EmbeddingServer
) -> Iterator[TwoWorkers]:
    with two_workers(tmp_path_factory.mktemp("operators"), openai) as house:
        yield house


def test_an_upload_overtakes_the_five_thousand_nightly_jobs_of_another_application(
    house: TwoWorkers,
) -> None:
    type = house.add_type("nap")
    house.enqueue(type, 5000, milliseconds=300)
    house.database.execute("update rag.processing_jobs set priority = -10 where type = %s", type)
    until(lambda: house.holders(type) == 2)
    uploader = {"X-Application-Id": house.add_application("with one file")}

    answer = house.api.http.post(
        "/upload/documents", files=[("files", text_file(1))], headers=uploader
    )
    uploaded_at = house.database.now()
    job_id = answer.json()["files"][0]["jobId"]
    until(lambda: house.job(job_id, **uploader)["status"] == "completed")
    overtaken_by = house.database.count(
        "select count(*) from rag.processing_jobs as nightly, rag.processing_jobs as upload"
        " where upload.id = %s and nightly.type = %s"
        "   and nightly.started_at between %s and upload.started_at",
        job_id,
        type,
        uploaded_at,
    )
    left = house.count(type, "pending")
    house.database.execute(
        "delete from rag.processing_jobs where type = %s and status = 'pending'", type
    )

    # Two slots of each worker; usually none, as it has started before its upload was answered.
    assert overtaken_by <= 4
    assert left > 0


def test_concurrent_retention_rounds_do_not_disturb_workers(house: TwoWorkers) -> None:
    old, type = house.add_type("nap"), house.add_type("nap")
    house.edit_type(old, isPaused=True)
    house.enqueue(old, 600)
    house.database.execute(
        "update rag.processing_jobs set status = 'completed',"
        " completed_at = now() - interval '60 days' where type = %s",
        old,
    )
    house.enqueue(type, 900, milliseconds=50)

    async def clean_up() -> list[dict[str, int]]:
        async with pool_across_applications(
            house.database.dsn, size=4, application_name="cleaning"
        ) as pool:
            return list(await asyncio.gather(clean(pool), clean(pool)))

    rounds = asyncio.run(clean_up())
    still_open = house.count(type, "pending") + house.count(type, "processing")
    house.wait_until_completed(type, 900)

    assert sum(removed["jobs"] for removed in rounds) == 600
    assert house.count(old, "completed") == 0
    assert still_open > 0


def test_global_pause_stops_and_resumes_claiming_at_once(house: TwoWorkers) -> None:
    type = house.add_type("nap")
    house.api.http.put("/api/worker/config", json={"paused": True}).raise_for_status()
    settle(1.2)

    house.enqueue(type, 50)
    settle(0.5)
    while_paused = house.count(type, "pending")
    [reason] = {job["waitReason"] for job in house.api.pages("/api/jobs", type=type)}
    house.api.http.put("/api/worker/config", json={"paused": False}).raise_for_status()
    house.wait_until_completed(type, 50)

    assert while_paused == 50
    assert reason == "paused"


def test_a_timeout_fails_the_job_and_kills_the_child_that_worked_on_it(house: TwoWorkers) -> None:
    house.edit_type("file", timeoutSeconds=1, stageTimeoutSeconds=1, maxAttempts=1)
    settle(2.0)  # so long a worker may go by what the type was before
    try:
        slow = b"An unhurried line of text that says little, again and again.\n" * 400_000
        working: set[int] = set()
        for number in range(20):  # on a busy machine, no process may start within the second
            [file] = house.api.upload([(f"slow{number}.txt", slow)])["files"]
            while not (job := house.job(file["jobId"]))["completedAt"]:
                working |= _parsers(house.workers)
            if working:
                break
    finally:
        house.edit_type("file", timeoutSeconds=1800, stageTimeoutSeconds=600, maxAttempts=5)

    assert (job["status"], job["lastErrorCode"]) == ("failed", "stage_timeout")
    until(lambda: working - _parsers(house.workers))


def _parsers(workers: Sequence[Service]) -> set[int]:
    """Parser processes of these workers: forks of their fork servers."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                stat = (entry / "stat").read_text()
                parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    servers = {pid for pid in parents if parents[pid] in {own.process.pid for own in workers}}
    return {pid for pid, parent in parents.items() if parent in servers}


@pytest.mark.parametrize("handler", ["poison", "block"])
def test_a_poison_job_takes_down_no_more_workers_than_it_has_attempts(
    house: TwoWorkers, handler: str
) -> None:
    poison = house.add_type(handler, maxAttempts=2, backoffBaseSeconds=0.1)
    naps = house.add_type("nap")
    deaths = 0

    def are_dead(count: int) -> bool:
        nonlocal deaths
        for worker in house.workers:
            if worker.process.poll() is not None:
                deaths += 1
                worker.restart()
        return deaths >= count

    house.enqueue(poison, 1)
    house.enqueue(naps, 100)
    # One that hangs may lose its job before it ends.
    until(lambda: are_dead(2) and house.count(poison, "failed") == 1)
    house.wait_until_completed(naps, 100)
    are_dead(2)

    [job] = house.api.pages("/api/jobs", type=poison)
    assert deaths == 2
    assert (job["lastErrorCode"], job["attempts"]) == ("worker_lost", 2)


def test_twenty_parallel_posts_with_one_key_at_two_apis_make_one_job(house: TwoWorkers) -> None:
    type = house.add_type("nap")
    with house.another_api() as second, ThreadPoolExecutor(20) as threads:

        def post(number: int) -> Any:
            api = (house.api, second)[number % 2]
            return api.http.post(
                "/api/jobs",
                json={"type": type, "payload": {}},
                headers={"Idempotency-Key": "the-same"},
            )

        answers = list(threads.map(post, range(20)))
        other = second.http.post(
            "/api/jobs",
            json={"type": type, "payload": {"milliseconds": 1}},
            headers={"Idempotency-Key": "the-same"},
        )

    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_conflict")
    house.wait_until_completed(type, 1)


def test_failing_webhook_receiver_gets_the_same_event_again(house: TwoWorkers) -> None:
    with counting_provider() as sink:
        sink.answers["hook"] = [500, 503]
        endpoint = house.api.http.post(
            "/api/webhook-endpoints",
            json={"url": f"{sink.url}/hook", "events": ["source.completed"]},
        ).json()

        [file] = house.api.upload([text_file(77)])["files"]
        for attempt in (1, 2, 3):
            until(partial(_has_got, sink, attempt))
            house.make_notifications_due()
        deliveries = f"/api/webhook-endpoints/{endpoint['id']}/deliveries"
        [delivery] = until(
            lambda: [item for item in house.api.pages(deliveries) if item["status"] == "delivered"]
        )

    event = Webhook(endpoint["secret"]).verify(sink.bodies[-1][1], sink.bodies[-1][0])
    assert len({body for _, body in sink.bodies}) == 1
    assert len({headers["webhook-id"] for headers, _ in sink.bodies}) == 1
    assert event["type"] == "source.completed"
    assert event["data"]["knowledgeSourceId"] == file["knowledgeSourceId"]
    assert delivery["attempts"] == len(sink.bodies) == 3


def _has_got(sink: CountingProvider, requests: int) -> bool:
    return len(sink.bodies) >= requests
