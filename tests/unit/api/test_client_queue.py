"""A client that does not read costs a bounded amount, and never holds up others."""

import asyncio

import pytest

from api.live.client_queue import ClientQueue, Message, QueueClosed


def message(n: int, *, size: int = 1) -> Message:
    return Message(type="progress", text="x" * size, seq=n)


async def test_messages_are_returned_in_fifo_order() -> None:
    queue = ClientQueue()
    for n in range(3):
        queue.offer(message(n))

    taken = [(await queue.take()).seq for _ in range(3)]

    assert taken == [0, 1, 2]


async def test_too_many_messages_close_the_mailbox() -> None:
    queue = ClientQueue(count=2)

    accepted = [queue.offer(message(n)) for n in range(3)]

    assert accepted == [True, True, False]
    with pytest.raises(QueueClosed):
        await queue.take()


async def test_too_much_text_closes_the_mailbox() -> None:
    queue = ClientQueue(size=100)

    accepted = [queue.offer(message(n, size=60)) for n in range(3)]

    assert accepted == [True, True, False]


async def test_a_replay_waits_until_half_of_the_mailbox_is_free() -> None:
    queue = ClientQueue(count=4)
    await queue.put(message(0))
    await queue.put(message(1))
    third = asyncio.create_task(queue.put(message(2)))
    await asyncio.sleep(0)
    waited = not third.done()

    await queue.take()
    await third

    assert waited
    assert [(await queue.take()).seq for _ in range(2)] == [1, 2]


async def test_closing_wakes_waiting_producers_and_consumers() -> None:
    full, empty = ClientQueue(count=2), ClientQueue()
    await full.put(message(0))
    putting = asyncio.create_task(full.put(message(1)))
    taking = asyncio.create_task(empty.take())
    await asyncio.sleep(0)

    full.close()
    empty.close()

    with pytest.raises(QueueClosed):
        await putting
    with pytest.raises(QueueClosed):
        await taking
