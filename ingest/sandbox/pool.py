"""Parser processes: a file that crashes, hangs or eats memory fails alone.

Why our own pool and not pebble or concurrent.futures: those unpickle what the child sends, so a
parser taken over by a file could run code in the parent; they kill a process but not its group;
and they wait in threads. Here a child is a plain process that speaks checked JSON over pipes
(protocol.py), has limits (limits.py) and no secrets in its environment (process.py).
"""

import asyncio
from datetime import timedelta
from pathlib import Path

from ingest.errors import Permanent
from ingest.sandbox import protocol
from ingest.sandbox.process import Child
from ingest.sandbox.protocol import BadFrame, Parsed, ParseRequest, Reply

__all__ = ["ParseRequest", "Parsed", "ParserPool"]

_MAX_FILES = 500  # per process: libraries leak
_SWOLLEN = 256 * 1024 * 1024  # bytes; warm libraries alone take half of this
_NOTE = b'{"stage":'


class ParserPool:
    """Up to `size` files at a time, each in a process of its own.

    timeout: wall clock per file. memory: address space of a process in bytes. child: module that
    the processes run.
    """

    def __init__(
        self,
        *,
        size: int,
        timeout: timedelta,
        memory: int,
        child: str = "ingest.sandbox.child",
    ) -> None:
        self._slots = asyncio.Semaphore(size)
        self._timeout = timeout.total_seconds()
        self._memory = memory
        self._module = child
        self._idle: list[Child] = []  # the last one used is the warmest
        self._busy: set[Child] = set()
        self._reapers: set[asyncio.Task[None]] = set()

    async def parse(self, path: Path, request: ParseRequest) -> Parsed:
        """Text and chunks of the file at `path`; cancelling it kills the process at work.

        Raises only Permanent (codes of extract.registry and `parser_timeout`, `parser_crashed`,
        `parser_memory`) and Transient (no process could be started).
        """
        async with self._slots:
            child = await self._take()
            self._busy.add(child)
            try:
                reply = await self._ask(child, path, request)
            except BaseException:
                self._discard(child)
                raise
            finally:
                self._busy.discard(child)
            self._put_back(child, reply)
        if isinstance(reply.result, Parsed):
            return reply.result
        raise reply.result

    async def close(self) -> None:
        """End all processes, at work or not, and wait until they are gone."""
        for child in (*self._idle, *self._busy):
            self._discard(child)
        self._idle.clear()
        while self._reapers:
            await asyncio.gather(*self._reapers)

    async def _take(self) -> Child:
        while self._idle:
            child = self._idle.pop()
            if child.alive:
                return child
            self._discard(child)
        return await Child.start(self._module, memory=self._memory)

    async def _ask(self, child: Child, path: Path, request: ParseRequest) -> Reply:
        stage = "extract"
        frame = protocol.encode_request(str(path), request, cpu_seconds=self._timeout)
        try:
            async with asyncio.timeout(self._timeout):
                await child.send(frame)
                body = await child.receive()
                if body.startswith(_NOTE):
                    stage = "chunk"
                    body = await child.receive()
            return protocol.decode_reply(body)
        except TimeoutError:
            raise Permanent(
                f"Reading the file took longer than {self._timeout:g} s (stage {stage}).",
                code="parser_timeout",
            ) from None
        except (EOFError, OSError):
            raise await child.cause_of_death(stage) from None
        except BadFrame as error:
            raise Permanent(f"The parser answered {error}.", code="parser_crashed") from error

    def _put_back(self, child: Child, reply: Reply) -> None:
        """Keep a child that is fit for the next file."""
        out_of_memory = isinstance(reply.result, Permanent) and reply.result.code == "parser_memory"
        swollen = reply.resident > max(_SWOLLEN, self._memory // 4)
        if out_of_memory or swollen or child.files >= _MAX_FILES:
            self._discard(child)
        else:
            self._idle.append(child)

    def _discard(self, child: Child) -> None:
        """Kill now, wait for the end in the background: nobody has to wait with us."""
        child.kill()
        reaper = asyncio.create_task(child.reap())
        self._reapers.add(reaper)
        reaper.add_done_callback(self._reapers.discard)
