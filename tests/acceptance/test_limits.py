"""What two workers together may do: at once, per minute, to a provider that limits or is down."""

from collections.abc import Iterator

import pytest

from harness.service import until
from tests.acceptance.counting_provider import CountingProvider, counting_provider
from tests.acceptance.files import text_file
from tests.acceptance.openai_server import EmbeddingServer, embedding_server
from tests.acceptance.two_workers import TwoWorkers, busiest, settle, two_workers


@pytest.fixture(scope="module")
def openai() -> Iterator[EmbeddingServer]:
    with embedding_server() as server:
        yield server


@pytest.fixture(scope="module")
def house(
    tmp_path_factory: pytest.TempPathFactory, openai: EmbeddingServer
) -> Iterator[TwoWorkers]:
    with two_workers(tmp_path_factory.mktemp("limits"), openai) as house:
        yield house


@pytest.fixture
def provider() -> Iterator[CountingProvider]:
    with counting_provider() as provider:
        yield provider


def test_two_workers_keep_the_concurrency_limit_of_a_type(
    house: TwoWorkers, provider: CountingProvider
) -> None:
    type = house.add_type("call", maxConcurrent=9)
    house.enqueue(type, 100, url=provider.url, provider="many")

    with provider.held():
        # More than the eight slots of one worker, so both take part.
        until(lambda: provider.most_at_once == 9)
        settle(1.0)
    house.wait_until_completed(type, 100)

    assert provider.most_at_once == 9
    assert len(provider.calls["many"]) == 100


def test_two_workers_keep_the_rate_limit_of_a_type(
    house: TwoWorkers, provider: CountingProvider
) -> None:
    type = house.add_type("call", ratePerMinute=240)

    house.enqueue(type, 40, url=provider.url, provider="rated")
    house.wait_until_completed(type, 40)

    starts = house.starts(type)

    # A tenth of the rate at once, then 217 a minute (240 - 24 + 1): never above 240 in a minute.
    assert len(provider.calls["rated"]) == len(starts) == 40
    for window in (1.0, 2.0, 4.0):
        # The claim looks at the clock a moment after the time that it notes.
        assert busiest(starts, window=window) <= 24 + (window + 0.5) * 217 / 60 + 1
    assert max(starts) - min(starts) >= (40 - 24 - 1) * 60 / 217 - 0.5


def test_a_limit_that_is_edited_holds_within_seconds(
    house: TwoWorkers, provider: CountingProvider
) -> None:
    provider.delay = 0.1
    type = house.add_type("call")
    house.enqueue(type, 60, url=provider.url, provider="edited")

    with provider.held():
        until(lambda: provider.most_at_once > 4)
        house.edit_type(type, maxConcurrent=1)
        settle(2.0)
    until(lambda: house.count(type, "processing") <= 1)
    provider.most_at_once = 0
    before = len(provider.calls["edited"])
    until(lambda: len(provider.calls["edited"]) >= before + 5)

    assert provider.most_at_once == 1
    house.edit_type(type, maxConcurrent=None)
    house.wait_until_completed(type, 60)


def test_a_storm_of_429_fails_no_file_and_burns_no_attempt(
    house: TwoWorkers, openai: EmbeddingServer
) -> None:
    refused_before = openai.refused
    openai.per_second = 0  # however few requests the files need, one of them is refused
    try:
        batch = house.api.upload([text_file(number) for number in range(500)])
        until(lambda: openai.refused > refused_before)
        openai.per_second = 5
        application = house.database.default_application()
        progress = house.api.wait_until_terminal(application)
    finally:
        openai.per_second = None

    assert batch["jobCount"] == 500
    assert progress["failed"] == 0
    assert progress["completed"] == 500
    assert house.most_attempts("file") == 1


def test_a_provider_that_is_down_does_not_hold_up_another(
    house: TwoWorkers, provider: CountingProvider
) -> None:
    type = house.add_type("call", maxAttempts=5, backoffBaseSeconds=0.1)
    provider.down.add("a")
    house.enqueue(type, 100, url=provider.url, provider="a")
    house.enqueue(type, 100, url=provider.url, provider="b")

    house.wait_until_completed(type, 100)
    waiting = house.database.rows(
        "select distinct wait_reason from rag.processing_jobs where type = %s"
        " and status = 'pending' and run_at is not null",
        type,
    )
    calls_while_down = len(provider.calls["a"])
    provider.down.clear()
    house.wait_until_completed(type, 200)

    assert len(provider.calls["b"]) == 100
    assert {reason for (reason,) in waiting} <= {"provider_unavailable", "retry"}
    # The lane pauses: a hundred jobs do not try five times each.
    assert calls_while_down < 60
