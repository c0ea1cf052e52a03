"""How many searches of an application run and wait."""

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest

from harness.patience import PATIENCE
from ingest.errors import Transient
from ingest.search import slots
from ingest.search.slots import SearchSlots

A, B = UUID(int=1), UUID(int=2)


class Searches:
    """Searches that end when `gate` opens."""

    def __init__(self, found: SearchSlots) -> None:
        self._slots = found
        self.gate = asyncio.Event()
        self.running: list[UUID] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def start(self, owner: UUID, count: int = 1) -> None:
        self.tasks += [asyncio.create_task(self._run(owner)) for _ in range(count)]
        await asyncio.sleep(0)

    async def end(self) -> None:
        self.gate.set()
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*self.tasks)

    async def _run(self, owner: UUID) -> None:
        async with self._slots.hold(owner):
            self.running.append(owner)
            await self.gate.wait()


async def test_many_searches_of_an_application_leave_room_for_another() -> None:
    searches = Searches(SearchSlots())
    await searches.start(A, 16)
    await searches.start(B)
    running = list(searches.running)
    await searches.end()

    assert running == [A, A, A, A, B]
    assert sorted(searches.running) == [*[A] * 16, B]


async def test_beside_others_an_application_runs_fewer_searches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(slots, "_BESIDE_OTHERS", 2)
    searches = Searches(SearchSlots())
    await searches.start(B)
    await searches.start(A, 16)
    running = list(searches.running)
    await searches.end()

    assert running == [B, A, A]


async def test_a_search_is_refused_while_many_of_its_application_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(slots, "_MOST_WAITING", 2)
    found = SearchSlots()
    searches = Searches(found)
    await searches.start(A, 6)

    with pytest.raises(Transient) as caught:
        async with found.hold(A):
            pytest.fail("it got a slot")
    await searches.start(B)
    running = list(searches.running)
    await searches.end()

    assert caught.value.code == "busy"
    assert caught.value.retry_after is not None
    assert B in running


async def test_a_search_that_gets_no_slot_in_time_is_refused() -> None:
    found = SearchSlots(patience=timedelta(milliseconds=10))
    searches = Searches(found)
    await searches.start(A, 4)

    with pytest.raises(Transient) as caught:
        async with found.hold(A):
            pytest.fail("it got a slot")
    await searches.end()

    assert caught.value.code == "busy"
    assert found._slots.waiting(A) == 0
