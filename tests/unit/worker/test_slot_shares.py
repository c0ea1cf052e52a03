"""What claims know about the use of a worker's slots."""

from itertools import count
from types import SimpleNamespace
from typing import cast
from uuid import UUID

from ingest.worker.slot_shares import SlotShares
from ingest.worker.slots import Slot

A, B, C = (UUID(int=number) for number in (1, 2, 3))


class Worker:
    def __init__(self) -> None:
        self.now = 0.0
        self.positions = count(1)
        self.slots: dict[int, Slot] = {}
        self.shares = SlotShares(self.slots, clock=lambda: self.now)

    def begin(self, owner: UUID, jobs: int = 1) -> None:
        for _ in range(jobs):
            job = SimpleNamespace(application_id=owner)
            self.slots[next(self.positions)] = cast(
                Slot, SimpleNamespace(job=job, started=self.now)
            )

    def end_all(self) -> None:
        for key in list(self.slots):
            self.shares.charge(self.slots.pop(key))


def test_slots_that_are_held_count_whole() -> None:
    worker = Worker()
    worker.begin(A, 3)
    worker.begin(B)

    assert worker.shares.held() == {A: 3, B: 1}


def test_recent_use_counts_less_than_a_slot_and_is_forgotten() -> None:
    worker = Worker()
    worker.begin(A, 10)
    worker.now = 60
    worker.end_all()
    soon = worker.shares.held()
    worker.now += 3600

    assert 0.9 < soon[A] < 1
    assert worker.shares.held() == {}


def test_short_use_is_not_noted() -> None:
    worker = Worker()
    worker.begin(A)
    worker.now = 0.5
    worker.end_all()

    assert worker.shares.held() == {}


def test_only_the_heaviest_of_many_applications_are_noted() -> None:
    worker = Worker()
    for number in range(100):
        worker.begin(UUID(int=number), 1 + number % 2)
    worker.now = 10
    worker.end_all()

    noted = worker.shares.held()

    assert len(noted) == 32
    assert all(owner.int % 2 for owner in noted)


def test_a_holder_that_used_more_than_half_of_another_is_not_light() -> None:
    worker = Worker()
    worker.begin(A, 4)
    worker.begin(B, 3)
    worker.begin(C, 1)
    worker.now = 10

    held = worker.shares.held_by_light_ones()

    assert held[A] == held[B] == float("inf")
    assert 1 <= held[C] < 2
