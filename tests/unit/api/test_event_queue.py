"""A client that does not read costs a bounded amount, and never holds up others."""

import asyncio

import pytest

from api.live.client_queue import Closed, Mailbox, Message


def message(n: int, *, size: int = 1) -> Message:
    return Message(type="progress", text="x" * size, seq=n)


async def test_messages_come_out_in_the_order_in_which_they_went_in() -> None:
    mailbox = Mailbox()
    for n in range(3):
        mailbox.offer(message(n))

    taken = [(await mailbox.take()).seq for _ in range(3)]

    assert taken == [0, 1, 2]


async def test_too_many_messages_close_the_mailbox() -> None:
    mailbox = Mailbox(count=2)

    accepted = [mailbox.offer(message(n)) for n in range(3)]

    assert accepted == [True, True, False]
    with pytest.raises(Closed):
        await mailbox.take()


async def test_too_much_text_closes_the_mailbox() -> None:
    mailbox = Mailbox(size=100)

    accepted = [mailbox.offer(message(n, size=60)) for n in range(3)]

    assert accepted == [True, True, False]


async def test_a_replay_waits_until_half_of_the_mailbox_is_free() -> None:
    mailbox = Mailbox(count=4)
    await mailbox.put(message(0))
    await mailbox.put(message(1))
    third = asyncio.create_task(mailbox.put(message(2)))
    await asyncio.sleep(0)
    waited = not third.done()

    await mailbox.take()
    await third

    assert waited
    assert [(await mailbox.take()).seq for _ in range(2)] == [1, 2]


async def test_closing_wakes_waiting_producers_and_consumers() -> None:
    full, empty = Mailbox(count=2), Mailbox()
    await full.put(message(0))
    putting = asyncio.create_task(full.put(message(1)))
    taking = asyncio.create_task(empty.take())
    await asyncio.sleep(0)

    full.close()
    empty.close()

    with pytest.raises(Closed):
        await putting
    with pytest.raises(Closed):
        await taking
