"""Questions that are asked together."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta

import pytest

from harness.patience import AGES, PATIENCE
from ingest.asynchronous.tasks import cancel_all
from ingest.postgres.batch_loader import BatchLoader
from tests.support.movable_clock import MovableClock


class Squares:
    """Answers each number with its square, once it may."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []
        self.may_answer = asyncio.Event()
        self.error: Exception | None = None

    async def load(self, keys: Sequence[int]) -> Mapping[int, int]:
        self.asked.append(sorted(keys))
        await self.may_answer.wait()
        if self.error is not None:
            raise self.error
        return {key: key * key for key in keys if key < 100}


async def _all_asked() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_keys_arriving_during_a_query_share_the_next_one() -> None:
    squares = Squares()
    loader = BatchLoader(squares.load)
    first = asyncio.create_task(loader.get([1]))
    await _all_asked()
    others = [asyncio.create_task(loader.get([n, 2])) for n in (3, 4, 5)]
    await _all_asked()

    squares.may_answer.set()
    answers = [await task for task in (first, *others)]

    assert squares.asked == [[1], [2, 3, 4, 5]]
    assert [answer[n] for answer, n in zip(answers, (1, 3, 4, 5), strict=True)] == [1, 9, 16, 25]


async def test_key_requested_again_is_looked_up_again() -> None:
    squares = Squares()
    squares.may_answer.set()
    loader = BatchLoader(squares.load)

    await loader.get([1])
    await loader.get([1])

    assert squares.asked == [[1], [1]]


async def test_missing_keys_are_omitted() -> None:
    squares = Squares()
    squares.may_answer.set()

    assert await BatchLoader(squares.load).get([7, 100]) == {7: 49}


async def test_error_reaches_only_the_callers_of_the_query() -> None:
    squares = Squares()
    loader = BatchLoader(squares.load)
    failing = [asyncio.create_task(loader.get([n])) for n in (1, 2)]
    await _all_asked()
    squares.error = ValueError("no")
    squares.may_answer.set()
    outcomes = await asyncio.gather(*failing, return_exceptions=True)
    squares.error = None

    assert [str(outcome) for outcome in outcomes] == ["no", "no"]
    assert await loader.get([3]) == {3: 9}


@pytest.mark.parametrize("concerns_all", [False, True])
async def test_failing_key_does_not_fail_others(concerns_all: bool) -> None:
    asked: list[list[int]] = []

    async def load(keys: Sequence[int]) -> Mapping[int, int]:
        asked.append(sorted(keys))
        if 13 in keys:
            raise ValueError("no")
        return {key: key * key for key in keys}

    loader = BatchLoader(load, concerns_all=lambda _: concerns_all)
    outcomes = await asyncio.gather(
        *(loader.get([n]) for n in (12, 13, 14)), return_exceptions=True
    )

    if concerns_all:
        assert [type(outcome) for outcome in outcomes] == [ValueError] * 3
        assert asked == [[12, 13, 14]]
    else:
        assert outcomes[::2] == [{12: 144}, {14: 196}]
        assert isinstance(outcomes[1], ValueError)
        assert asked == [[12, 13, 14], [12], [13], [14]]


async def test_keys_that_arrive_soon_after_a_query_collect_for_the_next_one(
    movable_clock: MovableClock,
) -> None:
    movable_clock.skip_waits()
    squares = Squares()
    squares.may_answer.set()
    loader = BatchLoader(squares.load, every=timedelta(seconds=0.2))
    await loader.get([1])
    second = asyncio.create_task(loader.get([2]))
    await _all_asked()

    await asyncio.gather(second, loader.get([3]))

    assert squares.asked == [[1], [2, 3]]


async def test_first_query_and_those_of_many_keys_do_not_wait() -> None:
    squares = Squares()
    squares.may_answer.set()
    loader = BatchLoader(squares.load, every=timedelta(days=1))
    await loader.get([1])

    async with asyncio.timeout(PATIENCE):
        await loader.get(range(1000))

    assert [len(keys) for keys in squares.asked] == [1, 1000]


async def test_cancelled_caller_does_not_affect_others() -> None:
    squares = Squares()
    loader = BatchLoader(squares.load)
    gone = asyncio.create_task(loader.get([1]))
    staying = asyncio.create_task(loader.get([2]))
    await _all_asked()
    never_asked = asyncio.create_task(loader.get([3]))
    await _all_asked()
    gone.cancel()
    never_asked.cancel()
    await _all_asked()
    squares.may_answer.set()

    assert (await staying)[2] == 4
    assert gone.cancelled()
    assert squares.asked == [[1, 2]]


async def test_cancelled_loader_leaves_no_waiter() -> None:
    squares = Squares()
    loader = BatchLoader(squares.load)
    asking = [asyncio.create_task(loader.get([1]))]
    await _all_asked()
    asking.append(asyncio.create_task(loader.get([2])))
    await _all_asked()
    [running] = [task for task in asyncio.all_tasks() if task.get_name() == "batch loader"]
    await cancel_all(running)

    async with asyncio.timeout(PATIENCE):
        for task in asking:
            with pytest.raises(asyncio.CancelledError):
                await task


async def test_enough_callers_end_the_time_between_queries() -> None:
    squares = Squares()
    squares.may_answer.set()
    loader = BatchLoader(squares.load, every=AGES, enough=2)
    await loader.get([1])

    first = asyncio.create_task(loader.get([2]))
    await _all_asked()
    async with asyncio.timeout(PATIENCE / 2):
        await asyncio.gather(first, loader.get([3]))

    assert squares.asked == [[1], [2, 3]]


async def test_callers_do_not_wait_for_others_if_no_more_are_expected() -> None:
    squares = Squares()
    squares.may_answer.set()
    expected = {2, 3}
    loader = BatchLoader(squares.load, every=AGES, is_more_expected=lambda: bool(expected))
    await loader.get([1])

    expected.discard(2)
    second = asyncio.create_task(loader.get([2]))
    await _all_asked()
    assert squares.asked == [[1]]
    expected.discard(3)
    async with asyncio.timeout(PATIENCE / 2):
        await asyncio.gather(second, loader.get([3]))

    assert squares.asked == [[1], [2, 3]]
