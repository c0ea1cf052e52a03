"""Slots shared by cost: order of grants by a fake clock, and properties of the scheduler."""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.patience import PATIENCE
from ingest.asynchronous.fair_slots import FairSlots, SlotScheduler, Turn
from tests.support.settable_clock import SettableClock


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock()


def owners(turns: Sequence[Turn[str]]) -> str:
    return "".join(turn.owner for turn in turns)


def serve(
    scheduler: SlotScheduler[str], clock: SettableClock, running: deque[Turn[str]], took: float
) -> str:
    """End the oldest running request after `took` seconds; who is granted a slot."""
    clock.now += took
    scheduler.leave(running.popleft())
    granted = scheduler.grant()
    running.extend(granted)
    return owners(granted)


def test_owners_take_turns_however_many_requests_one_of_them_has(clock: SettableClock) -> None:
    scheduler = SlotScheduler[str](1, clock=clock)
    for owner in "AAAABB":
        scheduler.enter(owner)

    running = deque(scheduler.grant())
    order = owners(running) + "".join(serve(scheduler, clock, running, 1) for _ in range(5))

    assert order == "ABABAA"


def test_the_owner_that_used_less_time_is_first(clock: SettableClock) -> None:
    scheduler = SlotScheduler[str](1, clock=clock)
    scheduler.enter("A")
    running = deque(scheduler.grant())
    for owner in "AABBB":
        scheduler.enter(owner)

    order = [serve(scheduler, clock, running, took) for took in (10, 1, 1, 1, 10)]

    assert "".join(order) == "BBBAA"


def test_an_owner_that_holds_fewer_slots_is_first(clock: SettableClock) -> None:
    scheduler = SlotScheduler[str](3, clock=clock)
    for owner in "AAAAB":
        scheduler.enter(owner)

    assert owners(scheduler.grant()) == "ABA"


def test_a_newcomer_gets_the_reserve_while_another_holds_all_slots(clock: SettableClock) -> None:
    scheduler = SlotScheduler[str](2, reserve=1, clock=clock)
    for owner in "AAAA":
        scheduler.enter(owner)

    assert owners(scheduler.grant()) == "AA"
    clock.now += 60
    scheduler.enter("B")
    assert owners(scheduler.grant()) == "B"


def test_one_owner_does_not_get_the_reserve(clock: SettableClock) -> None:
    scheduler = SlotScheduler[str](2, reserve=2, clock=clock)
    for owner in "AAAA":
        scheduler.enter(owner)
    granted = scheduler.grant()
    clock.now += 600

    assert owners(granted) == "AA"
    assert scheduler.grant() == []
    assert not scheduler.may_grant_later


def test_the_rest_of_the_reserve_is_for_the_next_newcomers(clock: SettableClock) -> None:
    scheduler = SlotScheduler[str](4, reserve=4, clock=clock)
    for owner in "AAAAA":
        scheduler.enter(owner)
    scheduler.grant()
    clock.now += 60
    for owner in "BBBBB":
        scheduler.enter(owner)
    first = owners(scheduler.grant())
    for owner in "CCD":
        scheduler.enter(owner)

    assert first == "BB"
    assert owners(scheduler.grant()) == "CD"


def test_the_reserve_is_not_for_owners_that_use_as_much_as_the_others(clock: SettableClock) -> None:
    scheduler = SlotScheduler[str](2, reserve=1, clock=clock)
    for owner in "ABC":
        scheduler.enter(owner)
    running = deque(scheduler.grant())
    first = owners(running)
    for owner in "ABC":
        scheduler.enter(owner)

    served = [serve(scheduler, clock, running, 30) for _ in range(3)]
    scheduler.enter("D")

    # C, the newcomer of the first round, got the reserve; later only D.
    assert (first, served) == ("ABC", ["", "A", "B"])
    assert owners(scheduler.grant()) == "D"


def test_beside_others_an_owner_holds_few_slots_until_they_have_gone(clock: SettableClock) -> None:
    scheduler = SlotScheduler[str](4, reserve=2, beside_others=2, clock=clock)
    for owner in "AAAAA":
        scheduler.enter(owner)
    running = deque(scheduler.grant())
    alone = owners(running)
    scheduler.enter("B")
    for owner in "AAAA":
        scheduler.enter(owner)
    [beside] = scheduler.grant()
    ended = [serve(scheduler, clock, running, 1) for _ in range(3)]
    scheduler.leave(beside)
    soon = owners(scheduler.grant())
    clock.now += 20
    later = owners(scheduler.grant())

    assert (alone, beside.owner) == ("AAAA", "B")
    assert ended == ["", "", "A"]
    assert (soon, later) == ("", "AA")


def test_use_is_forgotten_in_time(clock: SettableClock) -> None:
    scheduler = SlotScheduler[str](1, clock=clock)
    scheduler.enter("A")
    running = deque(scheduler.grant())
    clock.now = 60
    scheduler.leave(running.popleft())
    clock.now += 3600
    scheduler.enter("A")
    scheduler.enter("B")

    assert owners(scheduler.grant()) == "A"


@dataclass(frozen=True, slots=True)
class Load:
    slots: int
    reserve: int
    requests: list[tuple[str, float, float]]
    """Owner, time of arrival, seconds in the slot."""


_times = st.integers(0, 200).map(lambda tenths: tenths / 10)
loads = st.builds(
    Load,
    slots=st.integers(1, 5),
    reserve=st.integers(0, 1),
    requests=st.lists(st.tuples(st.sampled_from("ABCDE"), _times, _times), min_size=1, max_size=40),
)


@given(loads)
def test_every_request_is_served_and_no_slot_is_free_while_somebody_waits(load: Load) -> None:
    clock = SettableClock()
    scheduler = SlotScheduler[str](load.slots, reserve=load.reserve, clock=clock)
    arrivals = deque(sorted(load.requests, key=lambda request: request[1]))
    ends: dict[Turn[str], float] = {}
    seconds: dict[Turn[str], float] = {}
    while arrivals or seconds:
        upcoming = [arrivals[0][1]] if arrivals else []
        clock.now = min([*upcoming, *ends.values()])
        for turn in [turn for turn, at in ends.items() if at <= clock.now]:
            del ends[turn], seconds[turn]
            scheduler.leave(turn)
        while arrivals and arrivals[0][1] <= clock.now:
            owner, _, took = arrivals.popleft()
            seconds[scheduler.enter(owner)] = took
        for turn in scheduler.grant():
            ends[turn] = clock.now + seconds[turn]
        waiting = len(seconds) - len(ends)

        assert len(ends) <= load.slots + load.reserve
        assert waiting == 0 or len(ends) >= load.slots


@given(
    costs=st.dictionaries(
        st.sampled_from("ABCDE"), st.integers(1, 50).map(lambda tenths: tenths / 10), min_size=2
    ),
    slots=st.integers(1, 4),
)
def test_owners_that_always_have_work_get_equal_time_whatever_their_requests_cost(
    costs: dict[str, float], slots: int
) -> None:
    clock = SettableClock()
    scheduler = SlotScheduler[str](slots, clock=clock)
    used = dict.fromkeys(costs, 0.0)
    running: dict[Turn[str], float] = {}
    for owner in costs:
        for _ in range(slots):
            scheduler.enter(owner)
    while clock.now < 300:
        for turn in scheduler.grant():
            running[turn] = clock.now + costs[turn.owner]
        first = min(running, key=lambda turn: running[turn])
        clock.now = running.pop(first)
        scheduler.leave(first)
        scheduler.enter(first.owner)
        used[first.owner] += costs[first.owner]

    share = 300 * slots / len(costs)
    # Requests are not interrupted: each owner is within a few requests of its share.
    assert all(abs(used[owner] - share) <= 0.25 * share for owner in costs), (used, share)


async def test_a_cancelled_request_gives_its_slot_to_the_next() -> None:
    slots = FairSlots[str](1)
    entered = []

    async def use(owner: str, until: asyncio.Event) -> None:
        async with slots.hold(owner):
            entered.append(owner)
            await until.wait()

    gate = asyncio.Event()
    tasks = [asyncio.create_task(use(owner, gate)) for owner in "ABC"]
    await asyncio.sleep(0)
    tasks[1].cancel()  # waits
    tasks[0].cancel()  # holds the slot
    gate.set()
    await asyncio.wait(tasks)

    assert entered == ["A", "C"]
    assert slots.waiting("B") == 0


async def test_the_reserve_is_offered_again_while_requests_run() -> None:
    slots = FairSlots[str](1, reserve=1)
    gate = asyncio.Event()

    async def use(owner: str) -> None:
        async with slots.hold(owner):
            if owner == "A":
                await gate.wait()
            else:
                await asyncio.sleep(0.02)

    async with asyncio.timeout(PATIENCE):
        first = asyncio.create_task(use("A"))
        await asyncio.sleep(0)
        await use("B")  # now it has used as much as A
        await use("B")
        gate.set()
        await first
