"""Memory and processors are those that the container may use."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from ingest import machine

MIB = 1024 * 1024


def files(root: Path, cgroup: str, limits: Mapping[str, str]) -> Path:
    for name, text in {"proc/self/cgroup": cgroup, **limits}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


PHYSICAL = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@pytest.mark.parametrize(
    ("cgroup", "limits", "total"),
    [
        ("0::/\n", {"sys/fs/cgroup/memory.max": "536870912\n"}, 512 * MIB),
        ("0::/\n", {"sys/fs/cgroup/memory.max": "max\n"}, PHYSICAL),
        # The limit of a service or pod holds for the groups below it.
        (
            "0::/pod/app\n",
            {
                "sys/fs/cgroup/pod/memory.max": "268435456",
                "sys/fs/cgroup/pod/app/memory.max": "max",
            },
            256 * MIB,
        ),
        # The path of the host, of which the container sees only the top.
        ("0::/docker/0123\n", {"sys/fs/cgroup/memory.max": "268435456"}, 256 * MIB),
        (
            "4:cpu:/\n3:pids,memory:/docker/0123\n0::/\n",
            {"sys/fs/cgroup/memory/memory.limit_in_bytes": "268435456"},
            256 * MIB,
        ),
        # Version 1 without a limit.
        (
            "3:memory:/\n",
            {"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712"},
            PHYSICAL,
        ),
        ("0::/../..\n", {"memory.max": "1"}, PHYSICAL),
        ("nonsense\n", {}, PHYSICAL),
        ("", {}, PHYSICAL),
    ],
)
def test_memory_is_that_of_the_container(
    tmp_path: Path, cgroup: str, limits: Mapping[str, str], total: int
) -> None:
    assert machine.total_memory(root=files(tmp_path, cgroup, limits)) == total


@pytest.mark.parametrize(
    ("cgroup", "limits", "processors"),
    [
        ("0::/\n", {"sys/fs/cgroup/cpu.max": "50000 100000\n"}, 1),
        ("0::/\n", {"sys/fs/cgroup/cpu.max": "150000 100000\n"}, 2),
        ("0::/\n", {"sys/fs/cgroup/cpu.max": "max 100000\n"}, 8),
        (
            "0::/pod/app\n",
            {
                "sys/fs/cgroup/pod/cpu.max": "300000 100000",
                "sys/fs/cgroup/pod/app/cpu.max": "max 100000",
            },
            3,
        ),
        ("0::/\n", {"sys/fs/cgroup/cpu.max": "1 0"}, 8),
        ("0::/\n", {"sys/fs/cgroup/cpu.max": ""}, 8),
        # Version 1, whose folder has the names of two controllers.
        (
            "5:cpu,cpuacct:/docker/0123\n4:memory:/\n",
            {
                "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "250000\n",
                "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
            },
            3,
        ),
        # The names in another order than those of the folder, which has a link.
        (
            "5:cpuacct,cpu:/pod/app\n",
            {
                "sys/fs/cgroup/cpu/pod/cpu.cfs_quota_us": "400000\n",
                "sys/fs/cgroup/cpu/pod/cpu.cfs_period_us": "100000\n",
                "sys/fs/cgroup/cpu/pod/app/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/pod/app/cpu.cfs_period_us": "100000\n",
            },
            4,
        ),
        ("5:cpu:/\n", {"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "100000"}, 8),
        ("3:cpu:/\n", {"sys/fs/cgroup/cpu.max": "100000 100000"}, 8),
        ("", {}, 8),
    ],
)
def test_processors_are_those_whose_time_the_container_may_use(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    cgroup: str,
    limits: Mapping[str, str],
    processors: int,
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(8), raising=False)

    assert machine.processors(root=files(tmp_path, cgroup, limits)) == processors


def test_memory_is_known_without_control_groups(tmp_path: Path) -> None:
    assert machine.total_memory(root=tmp_path) == PHYSICAL
