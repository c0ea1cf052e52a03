"""The embedded Postgres takes a share of the memory that the machine or the container has."""

import pytest

from ingest.postgres.embedded.memory import MIB, default_memory, tuned

GIB = 1024 * MIB


@pytest.mark.parametrize(
    ("total", "memory"),
    [
        (128 * MIB, 64 * MIB),
        (512 * MIB, 128 * MIB),
        (4 * GIB, GIB),
        (64 * GIB, 2 * GIB),
        (None, 512 * MIB),
    ],
)
def test_default_is_a_quarter_within_bounds(total: int | None, memory: int) -> None:
    assert default_memory(total) == memory


@pytest.mark.parametrize("memory", [64 * MIB, 300 * MIB, 2 * GIB, 32 * GIB])
def test_what_the_server_may_use_is_not_spent_twice(memory: int) -> None:
    settings = tuned(memory, 2, total=2 * memory)
    size = {name: int(value[:-2]) * 1024 for name, value in settings.items() if "kB" in value}

    # A build, and the three autovacuum workers that Postgres starts by default.
    spent = size["shared_buffers"] + size["maintenance_work_mem"] + 3 * size["autovacuum_work_mem"]
    assert 0.9 * memory <= spent <= memory
    assert 4 * MIB <= size["work_mem"] <= 16 * MIB
    assert size["effective_cache_size"] == memory


@pytest.mark.parametrize(("processors", "workers"), [(1, "0"), (2, "1"), (8, "4"), (96, "4")])
def test_parallel_builds_leave_no_processor_out_up_to_five(processors: int, workers: str) -> None:
    assert tuned(GIB, processors, total=None)["max_parallel_maintenance_workers"] == workers
