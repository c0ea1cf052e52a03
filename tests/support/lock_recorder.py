"""Records the locks that transactions of the tests take, and reports those taken out of order.

It watches every asynchronous connection of the process, so it checks the whole suite, however a
test gets its connection. The permitted order is in docs/locks.md.
"""

import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, Self
from weakref import WeakKeyDictionary

from psycopg import AsyncConnection, AsyncCursor, AsyncTransaction
from psycopg.pq import TransactionStatus

from tests.support.row_locks import locks, statements

DOCUMENT: Final = Path(__file__).parents[2] / "docs" / "locks.md"
_IDLE: Final = TransactionStatus.IDLE


@dataclass(frozen=True, slots=True)
class LockOrder:
    """The lock order of docs/locks.md, from its three tables."""

    rank: dict[str, int]
    """Position by table, or by the number of an advisory lock."""
    guard: dict[str, str]
    """By table: the lock that a transaction must hold before it locks rows of the table."""
    again: set[tuple[str, str]]
    """Statement and lock, if the transaction has already locked or inserted the rows."""
    exempt: set[tuple[str, str]]
    """Statement and lock of each exception."""

    @classmethod
    def read(cls, text: str) -> Self:
        sections = {
            part.partition("\n")[0].strip(): re.findall(r"^\| (.+) \|$", part, re.MULTILINE)[1:]
            for part in text.split("\n## ")
        }

        def pairs(section: str) -> set[tuple[str, str]]:
            rows = [row.split(" | ") for row in sections[section]]
            return {
                (statement, lock)
                for names, lock_cell, *_ in rows
                for statement in re.findall(r"`([^`]+)`", names)
                for lock in re.findall(r"`([^`]+)`", lock_cell)
            }

        rows = [row.split(" | ")[0] for row in sections["Order"]]
        order = [name for row in rows for name in re.findall(r"`([\w.]+)`", row)]
        return cls(
            rank={name: number for number, name in enumerate(order)},
            guard=dict(pairs("Guarded rows")),
            again=pairs("Locked again"),
            exempt=pairs("Exceptions"),
        )


class _Held(NamedTuple):
    rank: int
    lock: str
    statement: str


@dataclass(slots=True)
class LockRecorder:
    order: LockOrder
    violations: list[str] = field(default_factory=list)
    _held: WeakKeyDictionary[AsyncConnection[Any], list[_Held]] = field(
        default_factory=WeakKeyDictionary
    )
    _names: dict[bytes, str] = field(default_factory=lambda: dict(statements()))

    def begin(self, conn: AsyncConnection[Any]) -> None:
        """Record that a transaction begins."""
        self._held[conn] = []

    def note(self, conn: AsyncConnection[Any], query: object, *, rows: int) -> None:
        """Record the locks of a statement that was executed; `rows`: its `rowcount`."""
        statement = self._names.get(query) if isinstance(query, bytes) else None
        if statement is None:
            return
        if rows == 0:
            return  # no row was locked
        held = self._held.setdefault(conn, [])
        for lock in locks(query):
            if lock.waits:
                self._check(statement, lock.name, held)
            held.append(_Held(self.order.rank.get(lock.name, -1), lock.name, statement))

    def _check(self, statement: str, lock: str, held: list[_Held]) -> None:
        if (statement, lock) in self.order.exempt:
            return
        names = {earlier.lock for earlier in held}
        guard = self.order.guard.get(lock)
        if guard is not None:
            if guard not in names:
                self.violations.append(f"{statement} locks {lock} without {guard}")
            return
        rank = self.order.rank.get(lock)
        if rank is None:
            self.violations.append(f"{statement} locks {lock}, which docs/locks.md does not name")
            return
        last = max(held, default=None)
        if last is None or last.rank <= rank:
            return
        if lock in names and (statement, lock) in self.order.again:
            return
        self.violations.append(
            f"{statement} locks {lock} after {last.statement} has locked {last.lock}"
        )


Execute = Callable[..., Awaitable[Any]]


@contextmanager
def recording(recorder: LockRecorder) -> Iterator[None]:
    """Watch all statements of this process while the block runs."""
    before = AsyncCursor.execute, AsyncTransaction.__aenter__
    execute, enter = before

    async def watched(self: AsyncCursor[Any], query: Any, *args: Any, **kwargs: Any) -> Any:
        conn = self.connection
        if conn.info.transaction_status == _IDLE:
            recorder.begin(conn)
        done = await execute(self, query, *args, **kwargs)
        recorder.note(conn, query, rows=self.rowcount)
        return done

    async def entered(self: AsyncTransaction) -> Any:
        if self.connection.info.transaction_status == _IDLE:
            recorder.begin(self.connection)
        return await enter(self)

    AsyncCursor.execute = watched  # type: ignore[method-assign]  # given back below
    AsyncTransaction.__aenter__ = entered  # type: ignore[method-assign]
    try:
        yield
    finally:
        AsyncCursor.execute, AsyncTransaction.__aenter__ = before  # type: ignore[method-assign]
