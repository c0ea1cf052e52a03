"""Whose turn it is: applications one after the other, as often as they weigh."""

from collections import Counter
from collections.abc import Mapping
from uuid import UUID

from ingest.store.queue.jobs import ClaimedJob
from ingest.worker.round_robin import WeightedRoundRobin

_A, _B, _C = (UUID(int=number) for number in (10, 20, 30))


def _job(application_id: UUID) -> ClaimedJob:
    return ClaimedJob(
        id=UUID(int=1),
        application_id=application_id,
        knowledge_source_id=None,
        batch_id=None,
        parent_job_id=None,
        type="file",
        payload={},
        priority=0,
        attempts=1,
        max_attempts=5,
        fence=1,
        position=1,
    )


def _next_after(cursor: UUID, applications: list[UUID]) -> UUID:
    """What the claim does with one slot: the first one behind the cursor, else the first of all."""
    return next((id for id in sorted(applications) if id > cursor), min(applications))


def _served(order: WeightedRoundRobin, slots: int, weights: Mapping[UUID, int]) -> list[UUID]:
    served = []
    for _ in range(slots):
        application_id = _next_after(order.cursor, [_A, _B, _C])
        order.advance([_job(application_id)], weights)
        served.append(application_id)
    return served


def test_single_slot_serves_applications_in_turn() -> None:
    served = _served(WeightedRoundRobin(_A), 6, {})

    assert served == [_B, _C, _A, _B, _C, _A]


def test_a_turn_is_as_long_as_the_weight() -> None:
    served = _served(WeightedRoundRobin(_C), 10, {_A: 3})

    assert served == [_A, _A, _A, _B, _C, _A, _A, _A, _B, _C]


def test_shares_follow_the_weights_wherever_the_round_begins() -> None:
    for start in (_A, _B, _C):
        shares = Counter(_served(WeightedRoundRobin(start), 60, {_A: 3, _B: 2}))

        assert shares == {_A: 30, _B: 20, _C: 10}


def test_batch_across_the_end_of_a_round_continues_after_its_last_application() -> None:
    order = WeightedRoundRobin(_B)

    order.advance([_job(_A), _job(_C)], {})

    assert order.cursor == _A


def test_empty_claim_keeps_the_cursor() -> None:
    order = WeightedRoundRobin(_B)

    order.advance([], {})

    assert order.cursor == _B


def test_lowest_and_highest_ids_are_served() -> None:
    first, last = UUID(int=0), UUID(int=2**128 - 1)
    order = WeightedRoundRobin(last)

    order.advance([_job(first)], {first: 2})

    assert order.cursor == last
    order.advance([_job(first)], {first: 2})
    assert order.cursor == first
