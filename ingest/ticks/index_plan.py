"""How new vectors get under the HNSW index: one by one, or by building it anew. Pure.

A row of a build costs a third of an insert or less, but a build includes the rows that are already
indexed. So it pays if what waits is at least half of these. While jobs need the processor, vectors
wait until that is so, if their buffer has room for it; beyond that, as many as it costs a search
little to compare.
"""

from dataclasses import dataclass
from typing import Final, Literal

from ingest.store.embeddings.index_builds import IndexType

Step = Literal["build", "move", "wait"]

_INSERT_COST: Final = 3.0
"""Of an insert, in rows of a build (docs/decisions.md)."""
# A build waits for transactions, and reads the table twice.
_FEWEST: Final = 1_000
# What pgvector keeps of each vector during a build beside its numbers, with `m` = 16.
_BYTES_BESIDE: Final = 728


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Vectors of one model, and what their index may cost."""

    fresh: int
    """Those that wait."""
    capacity: int
    """As many may wait."""
    is_quiet: bool
    """Whether no job needs the processor."""
    can_build: bool
    fits: int
    """As many vectors are built in memory; further ones cost as much as an insert."""

    @property
    def is_low(self) -> bool:
        """Whether nothing is to be done, however many are indexed."""
        return self.fresh <= (0 if self.is_quiet else self.capacity // 8)

    @property
    def enough(self) -> int:
        """For a build, if it pays; while jobs run, room is left for what comes meanwhile."""
        return self.fresh if self.is_quiet else max(self.fresh, self.capacity * 3 // 4)

    @property
    def most_indexed(self) -> int:
        """With more indexed vectors than this, no build pays."""
        if not self.can_build or self.enough < _FEWEST:
            return -1
        indexed = (_INSERT_COST - 1) * self.enough
        if self.enough + indexed > self.fits:
            indexed = self.fits * (1 - 1 / _INSERT_COST)
        return int(indexed)


def fits(memory: int, dimension: int, index_type: IndexType) -> int:
    """How many vectors an index build with so many bytes of memory has room for."""
    return memory // (_BYTES_BESIDE + dimension * (2 if index_type == "halfvec" else 4))


def next_step(waiting: Waiting, indexed: int) -> Step:
    """What to do. `indexed` need not be counted further than `most_indexed` + 1."""
    if waiting.is_low:
        return "wait"
    if indexed > waiting.most_indexed:
        return "move"
    return "build" if waiting.fresh >= waiting.enough else "wait"
