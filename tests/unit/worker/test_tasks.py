"""Ending tasks that do not end at the first word, and waiting for events."""

import asyncio

from harness.patience import PATIENCE
from ingest.asynchronous.tasks import cancel_all, is_set_within


async def test_task_that_swallowed_its_cancellation_is_cancelled_again() -> None:
    lost = 0

    async def stubborn() -> None:
        nonlocal lost
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                lost += 1
                if lost == 3:
                    raise

    task = asyncio.create_task(stubborn())
    await asyncio.sleep(0)
    async with asyncio.timeout(PATIENCE):
        await cancel_all(task)

    assert lost == 3
    assert task.cancelled()


async def test_ending_keeps_quiet_about_how_tasks_ended() -> None:
    async def failing() -> None:
        raise RuntimeError("on its own")

    async def done() -> int:
        return 1

    tasks = [asyncio.create_task(failing()), asyncio.create_task(done())]
    await asyncio.sleep(0)

    await cancel_all(*tasks)

    assert all(task.done() for task in tasks)


async def test_a_cancellation_in_the_moment_of_the_event_is_not_lost() -> None:
    event = asyncio.Event()
    went_on = False

    async def waiting() -> None:
        nonlocal went_on
        await is_set_within(event, 60)
        went_on = True

    task = asyncio.create_task(waiting())
    await asyncio.sleep(0)
    event.set()
    task.cancel()
    await asyncio.wait([task])

    assert task.cancelled()
    assert not went_on


async def test_wait_returns_whether_the_event_arrived() -> None:
    event = asyncio.Event()

    assert not await is_set_within(event, 0.01)
    event.set()
    assert await is_set_within(event, 0.01)
