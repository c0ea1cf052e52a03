"""Where the processes of a pool come from: idle ones are kept, others started.

They are forks of a fork server while there is one.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final
from uuid import UUID

import structlog

from ingest.machine import processors
from ingest.priority import lower
from ingest.sandbox.forked import ForkFailed, PoolServer
from ingest.sandbox.jail import Confinement
from ingest.sandbox.process import Child

log = structlog.get_logger()

# Kept beyond the size of the pool.
_MOST: Final = 32
_MOST_BYTES: Final = 1024 * 1024 * 1024
_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class _Idle:
    child: Child
    owner: UUID | None
    bytes: int
    since: float = field(default_factory=time.monotonic)


class IdleProcesses:
    """Processes, each kept for the application whose files it has read. The one that was used last
    is taken first; old ones are ended."""

    def __init__(self, *, size: int, end: Callable[[Child], None]) -> None:
        """`size`: of the pool. `end`: called with each process that is not kept any longer."""
        self._size = size
        # Several pools of a machine keep what one of all its processors would.
        self._share = min(1.0, size / processors())
        self._end = end
        self._stack: list[_Idle] = []
        self._timer: asyncio.TimerHandle | None = None

    def take(self, owner: UUID | None) -> Child | None:
        """A process that has read files of this application only; None: there is none."""
        for idle in reversed(self._stack):
            if idle.owner == owner:
                self._stack.remove(idle)
                if idle.child.alive:
                    return idle.child
                self._end(idle.child)
        return None

    def put(self, child: Child, owner: UUID | None, *, resident: int) -> None:
        """Keep a process that uses `resident` bytes of memory."""
        self._stack.append(_Idle(child, owner, max(0, resident - child.shared)))
        while len(self._stack) > self._size and self._is_too_much():
            self._end(self._stack.pop(0).child)
        self._end_later()

    def _is_too_much(self) -> bool:
        kept = sum(idle.bytes for idle in self._stack)
        return len(self._stack) > self._share * _MOST or kept > self._share * _MOST_BYTES

    def close(self) -> None:
        """End all."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._stack:
            self._end(self._stack.pop().child)

    def _end_later(self) -> None:
        if self._timer is None and self._stack:
            delay = self._stack[0].since + _SECONDS - time.monotonic()
            self._timer = asyncio.get_running_loop().call_later(delay, self._end_old)

    def _end_old(self) -> None:
        self._timer = None
        while self._stack and time.monotonic() - self._stack[0].since >= _SECONDS:
            self._end(self._stack.pop(0).child)
        self._end_later()


class Starter:
    def __init__(
        self,
        module: str,
        *,
        memory: int,
        formats: Sequence[str],
        confinement: Confinement | None,
        server: PoolServer | None,
    ) -> None:
        """Arguments as those of ParserPool; `module`: its `child`."""
        self._start = partial(
            Child.start,
            module,
            memory=memory,
            formats=tuple(formats),
            confinement=confinement or Confinement(),
        )
        self._server = server

    async def prepare(self) -> None:
        """Wait until the fork server runs, if there is one and it can."""
        if self._server is not None:
            self._server.get()
            await self._server.wait()

    async def start(self, tokenizer: str | None) -> Child:
        """Start a process that will use this tokenizer. Raises Transient if it does not start."""
        server = None if self._server is None else self._server.get()
        if server is not None:
            try:
                return await self._start(server=server, tokenizer=tokenizer)
            except ForkFailed as error:
                log.warning("parser_not_forked", error=str(error))
        child = await self._start()
        if self._server is not None:  # as the fork server does with itself
            lower(child.pid)
        return child
