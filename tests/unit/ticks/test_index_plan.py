"""Vectors wait, are moved or built, whichever costs least without slowing searches."""

from dataclasses import replace

import pytest

from ingest.ticks.index_plan import Step, Waiting, fits, next_step

ROOM = 1_000_000
QUIET = Waiting(fresh=5_000, capacity=64_000, is_quiet=True, can_build=True, fits=ROOM)
BUSY = replace(QUIET, is_quiet=False)


@pytest.mark.parametrize(
    ("fresh", "indexed", "step"),
    [
        (0, 0, "wait"),
        (1, 0, "move"),
        (999, 0, "move"),  # a build waits for others, which so few are not worth
        (1_000, 0, "build"),
        (5_000, 10_000, "build"),
        (5_000, 10_001, "move"),  # 15,001 rows of a build cost more than 5,000 inserts
        (60_000, 10_000_000, "move"),
    ],
)
def test_when_it_is_quiet_the_cheaper_way_is_taken(fresh: int, indexed: int, step: Step) -> None:
    assert next_step(replace(QUIET, fresh=fresh), indexed) == step


@pytest.mark.parametrize(
    ("fresh", "indexed", "step"),
    [
        (47_999, 0, "wait"),
        (48_000, 0, "build"),
        (48_000, 96_000, "build"),
        (47_999, 96_000, "wait"),
        # No build will pay: as few as ever are left to be compared one by one.
        (8_000, 96_001, "wait"),
        (8_001, 96_001, "move"),
        (60_000, 120_000, "build"),
    ],
)
def test_while_jobs_run_vectors_wait_for_a_build_that_pays(
    fresh: int, indexed: int, step: Step
) -> None:
    assert next_step(replace(BUSY, fresh=fresh), indexed) == step


@pytest.mark.parametrize("waiting", [QUIET, replace(BUSY, fresh=50_000)])
def test_without_builds_vectors_are_moved(waiting: Waiting) -> None:
    assert next_step(replace(waiting, can_build=False), 0) == "move"


def test_what_does_not_fit_into_memory_costs_as_much_as_an_insert() -> None:
    small = replace(QUIET, fresh=10_000, fits=12_000)

    # 12,000 rows of a build cost 4,000 inserts; the other 6,000 are inserts.
    assert next_step(small, 8_000) == "build"
    assert next_step(small, 8_001) == "move"
    assert next_step(replace(small, fits=0), 0) == "build"
    assert next_step(replace(small, fits=0), 1) == "move"


def test_an_answer_needs_no_count_beyond_the_bound() -> None:
    for waiting in (QUIET, BUSY, replace(BUSY, fresh=50_000), replace(QUIET, can_build=False)):
        beyond = waiting.most_indexed + 1
        assert next_step(waiting, beyond) == next_step(waiting, 10**9)


def test_memory_of_a_build_is_that_of_its_graph() -> None:
    """As pgvector 0.8.6 said of 256 dimensions: `no longer fits … after n tuples`, with 6 MB."""
    assert fits(6 * 1024**2, 256, "halfvec") == pytest.approx(5_127, rel=0.03)
    assert fits(6 * 1024**2, 256, "vector") == pytest.approx(3_615, rel=0.03)
