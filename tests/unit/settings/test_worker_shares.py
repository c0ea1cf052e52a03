"""How `ingest serve` divides its worker: by the machine, or as it is told."""

import pytest

from ingest.errors import SetupError
from ingest.settings.loading import load_settings
from ingest.settings.settings import Settings
from ingest.settings.worker_shares import WorkerShare, worker_shares
from ingest.worker.loop import reserved_slots

GIB = 1024**3


@pytest.mark.parametrize(
    ("processors", "memory", "count"),
    [
        (1, 64 * GIB, 0),
        (2, 64 * GIB, 0),
        (3, 8 * GIB, 1),
        (4, 8 * GIB, 1),
        (8, 16 * GIB, 2),
        (8, 2 * GIB, 1),
        (8, GIB, 0),
        (16, None, 5),
        (96, 512 * GIB, 6),
    ],
)
def test_processes_by_default_go_by_processors_and_memory(
    processors: int, memory: int | None, count: int
) -> None:
    shares = worker_shares(Settings(), processors=processors, memory=memory)

    assert len(shares) == count


@pytest.mark.parametrize(("slots", "count", "processors"), [(16, 3, 8), (5, 5, 2), (7, 2, 96)])
def test_slots_and_parsers_are_divided_and_not_multiplied(
    slots: int, count: int, processors: int
) -> None:
    settings = Settings(worker_concurrency=slots, worker_processes=count)

    shares = worker_shares(settings, processors=processors, memory=GIB)

    assert len(shares) == count
    assert sum(share.slots for share in shares) == slots
    # Each process needs one to read at all.
    assert sum(share.parsers for share in shares) == max(count, min(slots, processors))
    assert all(1 <= share.parsers <= share.slots for share in shares)


def test_one_process_of_its_own_has_everything() -> None:
    settings = Settings(worker_processes=1)

    [share] = worker_shares(settings, processors=4, memory=GIB)

    assert share == WorkerShare(slots=16, parsers=4)


@pytest.mark.parametrize(("slots", "count"), [(1, 0), (2, 1), (3, 1), (4, 2), (7, 3), (12, 6)])
def test_each_process_by_default_has_slots_enough_for_a_reserve(slots: int, count: int) -> None:
    few = Settings(worker_concurrency=slots)

    shares = worker_shares(few, processors=96, memory=None)

    assert len(shares) == count
    assert all(reserved_slots(share.slots) > 0 for share in shares)


def test_there_are_none_without_a_worker() -> None:
    assert worker_shares(Settings(worker=False), processors=96, memory=None) == ()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"INGEST_WORKER_PROCESSES": "-1"}, "INGEST_WORKER_PROCESSES"),
        ({"INGEST_WORKER_PROCESSES": "many"}, "INGEST_WORKER_PROCESSES"),
        ({"INGEST_WORKER_PROCESSES": "17"}, r"at most INGEST_WORKER_CONCURRENCY \(16\)"),
        ({"INGEST_WORKER_PROCESSES": "1", "INGEST_WORKER": "false"}, "needs INGEST_WORKER=true"),
    ],
)
def test_processes_that_cannot_be_are_refused(
    monkeypatch: pytest.MonkeyPatch, values: dict[str, str], message: str
) -> None:
    for name, value in values.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(SetupError, match=message):
        load_settings()


def test_without_a_worker_zero_processes_are_no_contradiction() -> None:
    assert (
        worker_shares(Settings(worker=False, worker_processes=0), processors=8, memory=None) == ()
    )
