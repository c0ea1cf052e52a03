"""While a crawl runs: what the command waits for, and what it shows."""

from typing import Any

import httpx
import pytest

from api.cli.client.crawl_waiter import CrawlProgress, job_line, pages_line, wait_for_run
from api.cli.client.http_client import Client, ServiceAddress, Unreachable
from tests.support.cli_crawl_service import RUN, counts, job


def client(answers: list[httpx.Response | Exception]) -> Client:
    def answer(_: httpx.Request) -> httpx.Response:
        next_one = answers.pop(0)
        if isinstance(next_one, Exception):
            raise next_one
        return next_one

    target = ServiceAddress(url="http://ingest.test", key="key", key_from="the test")
    return Client(target, transport=httpx.MockTransport(answer))


def ok(content: Any) -> httpx.Response:
    return httpx.Response(200, json=content)


def test_waiting_survives_a_service_restart() -> None:
    answers: list[httpx.Response | Exception] = [
        ok(counts("pending")),
        ok(job("pending")),
        httpx.ConnectError("refused"),
        httpx.Response(503),
        httpx.Response(429),
        ok(counts("processing", total=9, completed=2)),
        ok(counts("partial", total=9, completed=8, failed=1)),
    ]
    naps: list[float] = []

    with client(answers) as service:
        wait_for_run(service, RUN, sleep=naps.append)

    assert answers == []
    assert len(naps) == 5


def test_progress_shows_rate_and_remaining_time() -> None:
    times = iter((0.0, 10.0, 20.0))
    progress = CrawlProgress(lambda: next(times))
    seen = [progress.line()]

    for done in (0, 5, 30):
        numbers = counts("processing", total=100, completed=done, failed=1, eta=75)
        progress.record(pages_line(numbers), numbers)
        seen.append(progress.line())

    assert seen == [
        "pending",
        "100 pages found · 0 done · 1 failed · 1 min 15 s left",
        "100 pages found · 5 done · 1 failed · 0.5 pages/s · 1 min 15 s left",
        "100 pages found · 30 done · 1 failed · 1.5 pages/s · 1 min 15 s left",
    ]


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        (counts("pending"), ""),
        (counts("processing", total=2), "2 pages found · 0 done"),
        (counts("processing", total=1200, completed=9), "1,200 pages found · 9 done"),
    ],
)
def test_the_root_job_counts_only_before_there_are_pages(
    numbers: dict[str, Any], words: str
) -> None:
    assert pages_line(numbers) == words


@pytest.mark.parametrize(
    ("job", "words"),
    [
        (job("pending"), "pending"),
        (job("pending", wait="robots_unavailable"), "waiting: robots_unavailable"),
        (
            job("pending", error="the server responded with HTTP 503"),
            "waiting: the server responded with HTTP 503",
        ),
        (job("processing", error="HTTP 503"), "processing"),
    ],
)
def test_progress_before_the_first_page_shows_the_wait_reason(
    job: dict[str, Any], words: str
) -> None:
    assert job_line(job) == words


def test_unreachable_service_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.cli.client.polling.MAX_OUTAGE_SECONDS", 0)
    refused: list[httpx.Response | Exception] = [httpx.ConnectError("no") for _ in range(99)]

    with client(refused) as service, pytest.raises(Unreachable, match="cannot connect"):
        wait_for_run(service, RUN, sleep=lambda _: None)
