"""Claims are fair by the slots that applications use, on a real Postgres."""

from collections import Counter
from typing import cast
from uuid import UUID, uuid4

import pytest

from ingest.handlers.registry import Handler
from ingest.postgres.database import Connection
from ingest.worker.claiming import Claiming
from ingest.worker.slot_shares import SlotShares
from tests.support.queue_builders import add_application, claim, enqueue


@pytest.fixture
async def other(conn: Connection) -> UUID:
    return await add_application(conn)


async def test_free_slots_go_to_the_application_that_holds_fewer(
    conn: Connection, application_id: UUID, other: UUID
) -> None:
    await enqueue(conn, application_id, 20)
    await enqueue(conn, other, 20)

    shares = Counter(job.application_id for job in await claim(conn, 6, held={application_id: 4.0}))

    assert shares == {application_id: 1, other: 5}


@pytest.mark.parametrize("cursor", [0, 2**128 - 1])
async def test_one_free_slot_goes_to_the_application_that_holds_none(
    conn: Connection, application_id: UUID, other: UUID, cursor: int
) -> None:
    await enqueue(conn, application_id, 20)
    await enqueue(conn, other)

    [job] = await claim(conn, cursor=cursor, held={application_id: 1.0})

    assert job.application_id == other


async def test_recent_use_decides_between_applications_that_hold_no_slot(
    conn: Connection, application_id: UUID, other: UUID
) -> None:
    for owner in (application_id, other):
        await enqueue(conn, owner)
    used = {application_id: 0.6, other: 0.2}

    assert [job.application_id for job in await claim(conn, held=used)] == [other]


async def test_an_application_alone_gets_all_slots_whatever_it_holds(
    conn: Connection, application_id: UUID
) -> None:
    await enqueue(conn, application_id, 20)

    assert len(await claim(conn, 6, held={application_id: 30.0})) == 6


async def test_a_weight_counts_for_the_slots_that_are_held(
    conn: Connection, application_id: UUID, other: UUID
) -> None:
    for owner in (application_id, other):
        await enqueue(conn, owner, 20)

    claimed = await claim(
        conn, 4, held={application_id: 6.0, other: 2.0}, weights={application_id: 3}
    )

    assert Counter(job.application_id for job in claimed) == {application_id: 3, other: 1}


async def test_a_reserved_slot_is_for_those_that_hold_fewer_than_are_free(
    conn: Connection, application_id: UUID, other: UUID
) -> None:
    await enqueue(conn, application_id, 5)
    await enqueue(conn, other, 5)
    held = {application_id: 16.0, other: 1.0}

    [job] = await claim(conn, held=held, most_held=2)
    nothing = await claim(conn, held=held, most_held=1)

    assert job.application_id == other
    assert nothing == []


async def test_many_holders_do_not_hide_an_application_that_holds_nothing(
    conn: Connection, application_id: UUID
) -> None:
    holders = [await add_application(conn) for _ in range(20)]
    for owner in [application_id, *holders]:
        await enqueue(conn, owner, 2)
    last = max([application_id, *holders])
    held = {owner: 1.0 for owner in [application_id, *holders] if owner != last}

    [job] = await claim(conn, held=held, most_held=1)

    assert job.application_id == last


async def test_claims_by_age_leave_the_reserve_alone(
    conn: Connection, application_id: UUID, other: UUID
) -> None:
    await enqueue(conn, application_id, 30)
    await enqueue(conn, other, 12)
    shares = SlotShares({})
    handlers = {"file": cast(Handler, None)}  # never called
    claiming = Claiming(worker=uuid4(), handlers=handlers, shares=shares)
    shares.held_by_light_ones = lambda: {application_id: 16.0}  # type: ignore[method-assign]  # as if

    claimed = [job for _ in range(12) for job in await claiming.take_reserved(conn, free=4)]

    assert {job.application_id for job in claimed} == {other}
    assert len(claimed) == 12
