"""Rows of a table that can be looked at before they are taken."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice


class RowQueue(Iterable[Sequence[str]]):
    """The rows of an iterable; iterating takes them."""

    def __init__(self, rows: Iterable[Sequence[str]]) -> None:
        self._rows = iter(rows)
        self._ahead: deque[Sequence[str]] = deque()

    def __iter__(self) -> Iterator[Sequence[str]]:
        while True:
            while self._ahead:
                yield self._ahead.popleft()
            for row in self._rows:
                yield row
                if self._ahead:  # meanwhile looked at
                    break
            else:
                return

    def peek(self, count: int) -> list[Sequence[str]]:
        """At most `count` rows that come next."""
        self._ahead.extend(islice(self._rows, max(0, count - len(self._ahead))))
        return list(islice(self._ahead, count))

    def first(self) -> Sequence[str]:
        """The row that comes next; empty if there is none."""
        if not self._ahead:
            self._ahead.extend(islice(self._rows, 1))
        return self._ahead[0] if self._ahead else ()

    def put_back(self, *rows: Sequence[str]) -> None:
        """Make these rows the next ones."""
        self._ahead.extendleft(reversed(rows))

    def skip(self, count: int) -> None:
        """Leave out the next `count` rows."""
        for _ in islice(self, count):
            pass
