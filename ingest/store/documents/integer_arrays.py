"""Arrays of integers of many rows, sent end to end: without a step of Python for each number.

`unnest` would flatten an array of arrays, so a statement takes the slice of each row itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg.abc import AdaptContext
from psycopg.adapt import Dumper
from psycopg.postgres import types
from psycopg.pq import Format

_INTEGER = types["int4"]


@dataclass(frozen=True, slots=True)
class Integers:
    """A parameter of type `integer[]`."""

    values: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class EndToEnd:
    """One array that holds those of all rows."""

    array: Integers
    starts: list[int]
    """Of each row's, 1-based, both ends included, as Postgres counts: `array[start:end]`."""
    ends: list[int]


def end_to_end(rows: Sequence[NDArray[np.int32]]) -> EndToEnd:
    """`rows` is not empty, but each of them may be."""
    ends = np.cumsum([len(row) for row in rows])
    starts = np.concatenate([[1], ends[:-1] + 1])
    return EndToEnd(Integers(np.concatenate(rows)), starts.tolist(), ends.tolist())


class _IntegersDumper(Dumper):
    """Writes the format of `array_recv`: dimensions, then each number with its length."""

    format = Format.BINARY

    def __init__(self, cls: type, context: AdaptContext | None = None) -> None:
        super().__init__(cls, context)
        # Of the class, it would also be used for lists, whose type a COPY states.
        self.oid = _INTEGER.array_oid

    def dump(self, obj: Integers) -> bytes:
        count = len(obj.values)
        if count == 0:
            return np.array([0, 0, _INTEGER.oid], ">i4").tobytes()
        packed = np.empty((count, 2), ">i4")
        packed[:, 0] = obj.values.itemsize
        packed[:, 1] = obj.values
        dimensions, has_nulls, first = 1, 0, 1
        head = np.array([dimensions, has_nulls, _INTEGER.oid, count, first], ">i4")
        return head.tobytes() + packed.tobytes()


psycopg.adapters.register_dumper(Integers, _IntegersDumper)
