"""How the embedded Postgres uses the machine, or the part of it that its container may use."""

from typing import Final

MIB: Final = 1024 * 1024
# The rest is for parsers, embedding, and the cache of the operating system.
_SHARE: Final = 4
_MOST_BY_DEFAULT: Final = 2048 * MIB
_LEAST: Final = 64 * MIB


def tuned(memory: int, processors: int, *, total: int | None) -> dict[str, str]:
    """Settings of a server that may use so many bytes, for caches and maintenance together.

    `total`: memory of the machine; None: not known.
    """
    return {
        "shared_buffers": _kib(memory // 2),
        # In which the HNSW index is built: 1.2 KB for each vector of 256 dimensions.
        "maintenance_work_mem": _kib(memory // 4),
        "autovacuum_work_mem": _kib(memory // 16),
        "work_mem": _kib(min(max(memory // 128, 4 * MIB), 16 * MIB)),
        # What the planner expects in all caches; nothing is allocated.
        "effective_cache_size": _kib(max(memory, (total or 0) // 2)),
        # The process that builds the index is one more.
        "max_parallel_maintenance_workers": str(min(processors - 1, 4)),
    }


def default_memory(total: int | None) -> int:
    """Bytes for the server on a machine with so much memory (None: not known)."""
    if total is None:
        return 512 * MIB
    return min(max(total // _SHARE, _LEAST), _MOST_BY_DEFAULT)


def _kib(size: int) -> str:
    return f"{size // 1024}kB"
