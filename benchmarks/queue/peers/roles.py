"""The interface of all contestants, and the measurements, which are the same for all.

The script of a contestant subclasses `Queue` (or `Producer`, if another program runs its jobs),
implements its few methods, and ends with `main(ItsQueue)`. It reads lines of JSON, `{"role": …,
…}`, and answers each with a line of JSON. All times are nanoseconds of the machine's monotonic
clock, which all processes share.
"""

import asyncio
import json
import os
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

Handle = Callable[[int], None]
"""The handler of a job calls it first, with the job's number."""
Runner = Callable[[Coroutine[Any, Any, None]], None]
"""`asyncio.run`, or the equivalent of another event loop."""


class Producer(ABC):
    """Enqueues jobs that do nothing; each carries a number."""

    open_jobs: str
    """A query that counts the jobs that have not been completed."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn

    @abstractmethod
    async def install(self) -> None:
        """Create its tables in an empty database; `open` follows."""

    @abstractmethod
    async def open(self) -> None:
        """Connect as a producer."""

    @abstractmethod
    async def push(self, numbers: Sequence[int]) -> None:
        """Enqueue a job for each number in one call, and commit unless `together` is open."""

    @abstractmethod
    def together(self) -> AbstractAsyncContextManager[None]:
        """Commit all jobs pushed in the block at once, and update the table's statistics."""


class Queue(Producer):
    """Also runs the jobs."""

    @abstractmethod
    async def work(self, handle: Handle, ready: Callable[[], None]) -> None:
        """Run jobs until the process is ended; call `ready` when waiting for them."""


async def _install(queue: Producer, _: dict[str, Any]) -> None:
    await queue.install()
    await queue.open()
    _say({"open_jobs": queue.open_jobs})


async def _push(queue: Producer, arguments: dict[str, Any]) -> None:
    """Push jobs: `calls` calls in sequence, with `size` jobs each."""
    size = arguments["size"]
    calls = [range(n * size, (n + 1) * size) for n in range(arguments["calls"])]
    started = time.perf_counter()
    for numbers in calls:
        await queue.push(numbers)
    _say({"seconds": time.perf_counter() - started})


async def _trickle(queue: Producer, arguments: dict[str, Any]) -> None:
    """Push single jobs with pauses between them; answer with the time when each commit returned."""
    committed = []
    for number, pause in enumerate(arguments["pauses"]):
        await asyncio.sleep(pause)
        await queue.push([number])
        committed.append(time.monotonic_ns())
    _say({"committed": committed})


async def _fill(queue: Producer, arguments: dict[str, Any]) -> None:
    """Push jobs in one commit; answer with the time when it returned."""
    first, size = arguments["first"], arguments["size"]
    end = first + arguments["count"]
    async with queue.together():
        for start in range(first, end, size):
            await queue.push(range(start, min(start + size, end)))
    _say({"committed": time.monotonic_ns()})


async def _work(queue: Producer, _: dict[str, Any]) -> None:
    """Work until standard input ends; then answer with the jobs run, and the start time of each."""
    assert isinstance(queue, Queue)
    runs: list[tuple[int, int]] = []

    def handle(number: int) -> None:
        runs.append((number, time.monotonic_ns()))

    working = asyncio.create_task(queue.work(handle, lambda: _say({"ready": True})))
    told_to_end = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
    await asyncio.wait([working, told_to_end], return_when=asyncio.FIRST_COMPLETED)
    if working.done():
        working.result()
        raise RuntimeError("the worker has ended by itself")
    _say({"runs": runs})


_ROLES = {"install": _install, "push": _push, "trickle": _trickle, "fill": _fill, "work": _work}


async def _play(queue: Producer) -> None:
    while line := await asyncio.to_thread(sys.stdin.readline):
        arguments = json.loads(line)
        await _ROLES[arguments["role"]](queue, arguments)
    # All results are reported, so do not wait for a clean stop.
    os._exit(0)


def _say(answer: dict[str, Any]) -> None:
    print(json.dumps(answer), flush=True)


def main(queue: type[Producer], *, run: Runner = asyncio.run) -> None:
    """Play the roles read from standard input, on the database given as the only argument."""
    run(_play(queue(sys.argv[1])))
