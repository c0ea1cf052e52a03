"""A pool of parser processes: a file that crashes, hangs or exhausts memory fails alone.

Why not pebble or concurrent.futures: they unpickle what the child sends, so a file that has taken
over a parser could run code in the parent; they kill a process but not its group; and they wait in
threads. Here a child is a plain process that sends checked JSON over pipes (protocol.py), has
resource limits (limits.py), no secrets in its environment (process.py) and no access to anything
but the file that it reads (jail.py).
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from itertools import chain
from pathlib import Path
from uuid import UUID

from ingest.asynchronous.fair_slots import FairSlots
from ingest.asynchronous.tasks import cancel_all
from ingest.errors import Permanent
from ingest.model import Sitemap
from ingest.sandbox.conversation import Call, CallQueue, Conversation, stopped
from ingest.sandbox.forked import PoolServer
from ingest.sandbox.jail import Confinement
from ingest.sandbox.messages import (
    Checked,
    CheckRequest,
    Located,
    LocateRequest,
    Parsed,
    ParseRequest,
    Rechunked,
    RechunkRequest,
    Rendered,
    RenderRequest,
    Reply,
    Request,
    SitemapRead,
    SitemapRequest,
    Unpacked,
    UnpackRequest,
)
from ingest.sandbox.process import Child
from ingest.sandbox.process_supply import IdleProcesses, Starter
from ingest.sandbox.replies import expected, report_skipped
from ingest.temporary_folders import scratch_folder

OnCost = Callable[[UUID, float], None]
"""Called with the CPU seconds that something of an application took."""

_MAX_FILES = 500  # per process: libraries leak
_SWOLLEN = 256 * 1024 * 1024  # bytes; loaded libraries alone take half of this


class ParserPool:
    """Reads up to `size` files at a time, each in a separate process.

    A process reads files of one application only: a file that has taken it over must not see those
    of another. Slots are shared by cost among applications (asynchronous/fair_slots.py).

    timeout: wall clock per file and stage; restarts with each page read by OCR. memory: address
    space of a process in bytes. formats: modules with formats of the operator
    (formats.catalog.load_extensions). child: the module that the processes run. confinement: of
    these processes; by default, whatever the kernel can do. server: forks processes in
    milliseconds, and its owner closes it; without, each loads its libraries. reserve: further
    slots, for applications that have read little while others hold all slots. on_cost: called for
    each file.
    """

    def __init__(
        self,
        *,
        size: int,
        timeout: timedelta,
        memory: int,
        formats: Sequence[str] = (),
        child: str = "ingest.sandbox.child",
        confinement: Confinement | None = None,
        server: PoolServer | None = None,
        reserve: int = 0,
        on_cost: OnCost | None = None,
    ) -> None:
        self._slots = FairSlots[UUID | None](size, reserve=reserve)
        self._on_cost = on_cost
        self._timeout = timeout.total_seconds()
        self._memory = memory
        self._starter = Starter(
            child, memory=memory, formats=formats, confinement=confinement, server=server
        )
        self._idle = IdleProcesses(size=size, end=self._discard)
        self._busy: set[Child] = set()
        self._reapers: set[asyncio.Task[None]] = set()
        self._most = size + reserve
        self._queues: dict[UUID | None, CallQueue] = {}
        self._readers: set[asyncio.Task[None]] = set()
        self._is_closed = False

    @property
    def is_busy(self) -> bool:
        """Whether files are being read, or wait for it."""
        return bool(self._queues)

    async def parse(
        self,
        path: Path,
        request: ParseRequest,
        *,
        owner: UUID | None = None,
        on_page: Callable[[], None] | None = None,
    ) -> Parsed:
        """Extract text and chunks of the file at `path`; cancelling the call kills its process.

        `owner`: the application whose file it is; None: of no application, as in a benchmark.
        `on_page` is called for each page read by OCR. Raises only Permanent (codes of
        formats.registry and `parser_timeout`, `parser_crashed`, `parser_memory`), its subclass
        IsArchive, and Transient (no process could be started).
        """
        return expected(await self._run(path, request, owner=owner, on_step=on_page), Parsed)

    async def unpack(
        self, path: Path, request: UnpackRequest, *, owner: UUID | None = None
    ) -> Unpacked:
        """Unpack the archive at `path` into the request's folder; raises as `parse`.

        The folder is as untrusted as the archive: use only the file names in the answer.
        """
        return expected(await self._run(path, request, owner=owner), Unpacked)

    async def rechunk(
        self, text: str, request: RechunkRequest, *, owner: UUID | None = None
    ) -> Rechunked:
        """Chunk a text that was extracted before; raises as `parse`."""
        async with scratch_folder() as folder:
            path = folder / "text"
            await asyncio.to_thread(path.write_text, text, encoding="utf-8", newline="")
            return expected(await self._run(path, request, owner=owner, text=text), Rechunked)

    async def read_sitemap(
        self, path: Path, request: SitemapRequest, *, owner: UUID | None = None
    ) -> Sitemap:
        """Read the addresses in the sitemap or feed at `path`; raises as `parse`."""
        return expected(await self._run(path, request, owner=owner), SitemapRead).sitemap

    async def render(
        self, path: Path, request: RenderRequest, *, owner: UUID | None = None
    ) -> Rendered:
        """Draw a page of the file at `path`; raises as `parse`."""
        return expected(await self._run(path, request, owner=owner), Rendered)

    async def locate(
        self, path: Path, request: LocateRequest, *, owner: UUID | None = None
    ) -> Located:
        """Find ranges of text on a page of the file at `path`; raises as `parse`."""
        found = expected(await self._run(path, request, owner=owner), Located)
        if len(found.places) != len(request.ranges):
            raise Permanent("The parser sent places of other texts.", code="parser_crashed")
        return found

    async def check(self) -> Checked:
        """Check what is installed, and how processes are jailed; raises as `parse`.

        Waits for the fork server: it has loaded what is checked.
        """
        await self._starter.prepare()
        return expected(await self._run(None, CheckRequest()), Checked)

    async def close(self) -> None:
        """Kill all processes, busy or idle, and wait for their end."""
        self._is_closed = True
        self._idle.close()
        for child in self._busy:
            self._discard(child)
        await cancel_all(*self._readers)
        for call in chain.from_iterable(queue.calls for queue in self._queues.values()):
            call.fail(stopped())
        while self._reapers:
            await asyncio.gather(*self._reapers)

    async def _run(
        self,
        path: Path | None,
        request: Request,
        *,
        owner: UUID | None = None,
        text: str = "",
        on_step: Callable[[], None] | None = None,
    ) -> Reply:
        if self._is_closed:
            raise stopped()
        call = Call(path, request, seconds=self._seconds(request), text=text, on_step=on_step)
        queue = self._queues.setdefault(owner, CallQueue())
        queue.calls.append(call)
        self._read_more(owner, queue)
        try:
            reply = await call.answer
        except asyncio.CancelledError:
            call.cancel()
            raise
        report_skipped(reply)
        return reply

    def _read_more(self, owner: UUID | None, queue: CallQueue) -> None:
        """Start a reader for each call that waits, up to the number of slots."""
        wanted = 0 if self._is_closed else self._most
        while queue.entering < len(queue.calls) and queue.readers < wanted:
            queue.readers += 1
            queue.entering += 1
            reader = asyncio.create_task(self._read(owner, queue), name="parser reader")
            self._readers.add(reader)
            reader.add_done_callback(self._readers.discard)

    async def _read(self, owner: UUID | None, queue: CallQueue) -> None:
        """Serve calls of an application, until none waits."""
        is_entering = True
        try:
            while queue.calls:
                async with self._slots.hold(owner):
                    queue.entering -= 1
                    is_entering = False
                    await self._serve(owner, queue)
                    queue.entering += 1
                    is_entering = True
        finally:
            queue.readers -= 1
            queue.entering -= is_entering
            if queue.calls:
                self._read_more(owner, queue)
            elif not queue.readers:
                del self._queues[owner]

    async def _serve(self, owner: UUID | None, queue: CallQueue) -> None:
        """Have a process answer the next call, and perhaps some behind it."""
        if (call := queue.next()) is None:
            return
        try:
            if (reader := asyncio.current_task()) is not None:
                call.on_cancel = reader.cancel
            child = await self._take(owner, call.request)
        except asyncio.CancelledError:
            queue.calls.appendleft(call)
            raise
        except Exception as error:
            call.on_cancel = None  # the reader goes on to the next one
            call.fail(error)
            return
        self._busy.add(child)
        spent = child.cpu_seconds
        reply = None
        try:
            reply = await Conversation(
                child,
                call,
                queue.calls,
                share=queue.share,
                is_worn=self._is_worn,
                on_returned=partial(self._read_more, owner, queue),
            ).hold()
        finally:
            self._busy.discard(child)
            if owner is not None and self._on_cost is not None:
                self._on_cost(owner, max(0.0, child.measure_cpu() - spent))
            if reply is None:
                self._discard(child)
            else:
                self._idle.put(child, owner, resident=reply.resident)

    async def _take(self, owner: UUID | None, request: Request) -> Child:
        if (child := self._idle.take(owner)) is not None:
            return child
        if isinstance(request, ParseRequest | RechunkRequest):
            return await self._starter.start(request.chunk.tokenizer)
        return await self._starter.start(None)

    def _seconds(self, request: Request) -> float:
        """The time limit per step. The OCR engine's own limit per picture is shorter."""
        ocr = request.ocr if isinstance(request, ParseRequest) else None
        return self._timeout if ocr is None else max(self._timeout, 2 * ocr.page_timeout)

    def _is_worn(self, child: Child, reply: Reply) -> bool:
        """Whether the process must read no other file."""
        out_of_memory = isinstance(reply.result, Permanent) and reply.result.code == "parser_memory"
        swollen = reply.resident > max(_SWOLLEN, self._memory // 4)
        return out_of_memory or swollen or child.files >= _MAX_FILES

    def _discard(self, child: Child) -> None:
        """Kill the child now; wait for its end in a background task."""
        child.kill()
        self._reapers.add(reaper := asyncio.create_task(child.reap()))
        reaper.add_done_callback(self._reapers.discard)
