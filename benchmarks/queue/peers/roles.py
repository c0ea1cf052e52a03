"""What each contestant is asked for, and the measuring around it, the same for all.

A script of a contestant subclasses `Queue` (or `Producer`, if another program runs its jobs) with
the few calls that only it knows, and ends with `main(ItsQueue)`. Each line that it reads is JSON,
`{"role": …, …}`, and is answered by a line of JSON. All times are those of the machine's monotonic
clock, in nanoseconds: its processes share it.
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
"""What the handler of a job calls with the job's number, in its first line."""
Runner = Callable[[Coroutine[Any, Any, None]], None]
"""`asyncio.run`, or that of another event loop."""


class Producer(ABC):
    """Enqueues jobs that do nothing; each carries a number."""

    open_jobs: str
    """A query that counts the jobs that have not been completed."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn

    @abstractmethod
    async def install(self) -> None:
        """Make its tables in an empty database; `open` comes next."""

    @abstractmethod
    async def open(self) -> None:
        """Connect, to push."""

    @abstractmethod
    async def push(self, numbers: Sequence[int]) -> None:
        """Enqueue a job for each number in one call, and commit unless `together` is open."""

    @abstractmethod
    def together(self) -> AbstractAsyncContextManager[None]:
        """What is pushed in the block becomes visible at once, with fresh statistics of it."""


class Queue(Producer):
    """Runs the jobs, too."""

    @abstractmethod
    async def work(self, handle: Handle, ready: Callable[[], None]) -> None:
        """Run jobs until the process is ended; call `ready` once it waits for them."""


async def _install(queue: Producer, _: dict[str, Any]) -> None:
    await queue.install()
    await queue.open()
    _say({"open_jobs": queue.open_jobs})


async def _push(queue: Producer, arguments: dict[str, Any]) -> None:
    """So many calls, so many jobs in each, one after the other."""
    size = arguments["size"]
    calls = [range(n * size, (n + 1) * size) for n in range(arguments["calls"])]
    started = time.perf_counter()
    for numbers in calls:
        await queue.push(numbers)
    _say({"seconds": time.perf_counter() - started})


async def _trickle(queue: Producer, arguments: dict[str, Any]) -> None:
    """Single jobs with pauses between them; when each commit had returned."""
    committed = []
    for number, pause in enumerate(arguments["pauses"]):
        await asyncio.sleep(pause)
        await queue.push([number])
        committed.append(time.monotonic_ns())
    _say({"committed": committed})


async def _fill(queue: Producer, arguments: dict[str, Any]) -> None:
    """Jobs that all become visible in one commit; when it had returned."""
    first, size = arguments["first"], arguments["size"]
    end = first + arguments["count"]
    async with queue.together():
        for start in range(first, end, size):
            await queue.push(range(start, min(start + size, end)))
    _say({"committed": time.monotonic_ns()})


async def _work(queue: Producer, _: dict[str, Any]) -> None:
    """Work until standard input ends; then say which jobs were run, and when each began."""
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
    # Everything is done and counted: how long a worker takes to stop is no part of the measure.
    os._exit(0)


def _say(answer: dict[str, Any]) -> None:
    print(json.dumps(answer), flush=True)


def main(queue: type[Producer], *, run: Runner = asyncio.run) -> None:
    """Do what standard input asks for, for the database that the only argument names."""
    run(_play(queue(sys.argv[1])))
