"""Parser processes: a file that crashes, hangs or eats memory fails alone.

Why our own pool and not pebble or concurrent.futures: those unpickle what the child sends, so a
parser taken over by a file could run code in the parent; they kill a process but not its group;
and they wait in threads. Here a child is a plain process that speaks checked JSON over pipes
(protocol.py), has limits (middleware/body_limit.py) and no secrets in its environment (process.py).
"""

import asyncio
from collections.abc import Callable
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path

import structlog

from ingest.errors import Permanent, Transient
from ingest.formats.catalog import format_name
from ingest.model import Chunk, MissingModule
from ingest.observability import metrics
from ingest.sandbox import protocol, replies
from ingest.sandbox.messages import (
    Checked,
    CheckRequest,
    Parsed,
    ParseRequest,
    Rechunked,
    RechunkRequest,
    Reply,
    Request,
    Unpacked,
    UnpackRequest,
)
from ingest.sandbox.process import Child
from ingest.sandbox.replies import BadFrame
from ingest.temporary_folders import scratch_folder

log = structlog.get_logger()

_MAX_FILES = 500  # per process: libraries leak
_SWOLLEN = 256 * 1024 * 1024  # bytes; warm libraries alone take half of this


class ParserPool:
    """Up to `size` files at a time, each in a process of its own.

    timeout: wall clock per file and stage, and anew per page that has to be recognised. memory:
    address space of a process in bytes. child: module that the processes run.
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

    async def parse(
        self, path: Path, request: ParseRequest, *, on_page: Callable[[], None] | None = None
    ) -> Parsed:
        """Text and chunks of the file at `path`; cancelling it kills the process at work.

        `on_page` is called for each page that was recognised. Raises only Permanent (codes of
        extract.registry and `parser_timeout`, `parser_crashed`, `parser_memory`), its IsArchive,
        and Transient (no process could be started).
        """
        result = (await self._run(path, request, on_step=on_page)).result
        if not isinstance(result, Parsed):
            raise _unless_error(result)
        return result

    async def unpack(self, path: Path, request: UnpackRequest) -> Unpacked:
        """The files in the archive at `path`, written into the request's folder; raises as parse.

        What is in the folder is as hostile as the archive: only the names of the answer count.
        """
        result = (await self._run(path, request)).result
        if not isinstance(result, Unpacked):
            raise _unless_error(result)
        return result

    async def rechunk(self, text: str, request: RechunkRequest) -> list[Chunk]:
        """The chunks of a text that was extracted before; raises as parse."""
        async with scratch_folder() as folder:
            path = folder / "text"
            await asyncio.to_thread(path.write_text, text, encoding="utf-8", newline="")
            result = (await self._run(path, request, text=text)).result
        if not isinstance(result, Rechunked):
            raise _unless_error(result)
        return result.chunks

    async def check(self) -> tuple[MissingModule, ...]:
        """What parsers need and is not installed; raises as parse."""
        result = (await self._run(Path(), CheckRequest())).result
        if not isinstance(result, Checked):
            raise _unless_error(result)
        return result.missing

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

    async def _run(
        self,
        path: Path,
        request: Request,
        *,
        text: str = "",
        on_step: Callable[[], None] | None = None,
    ) -> Reply:
        async with self._slots:
            child = await self._take()
            self._busy.add(child)
            try:
                body = await self._ask(child, path, request, on_step or _ignore)
                reply = replies.decode_reply(body, text=text)
            except BadFrame as error:
                self._discard(child)
                raise Permanent(f"The parser answered {error}.", code="parser_crashed") from error
            except BaseException:
                self._discard(child)
                raise
            finally:
                self._busy.discard(child)
            self._put_back(child, reply)
        _report(reply)
        return reply

    async def _ask(
        self, child: Child, path: Path, request: Request, on_step: Callable[[], None]
    ) -> bytes:
        """The body of the answer. BadFrame, and what `parse` raises."""
        stage = "extract"
        seconds = self._seconds(request)
        frame = protocol.encode_request(str(path), request, cpu_seconds=seconds)
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(seconds) as limit, child.watched():
                await child.send(frame)
                while (body := await child.receive()).startswith(protocol.NOTE):
                    stage = replies.decode_note(body)
                    limit.reschedule(loop.time() + seconds)
                    if stage == "extract":
                        on_step()
            return body
        except TimeoutError:
            raise Permanent(
                f"Reading the file took longer than {seconds:g} s (stage {stage}).",
                code="parser_timeout",
            ) from None
        except (EOFError, OSError):
            raise await child.cause_of_death(stage) from None

    def _seconds(self, request: Request) -> float:
        """For each step. A picture that takes too long ends before, and by itself."""
        ocr = request.ocr if isinstance(request, ParseRequest) else None
        return self._timeout if ocr is None else max(self._timeout, 2 * ocr.page_timeout)

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


def _report(reply: Reply) -> None:
    """Log and count the steps that failed on a file."""
    read = reply.result.document if isinstance(reply.result, Parsed) else None
    format = "other" if read is None else format_name(read.media_type)
    for skipped in reply.skipped:
        metrics.step_skipped(format, skipped.step, skipped.times)
        log.warning("parser_step_skipped", format=format, **asdict(skipped))


def _unless_error(result: object) -> Exception:
    """What to raise for an answer of another kind than was asked for."""
    if isinstance(result, Permanent | Transient):
        return result
    return Permanent("The parser answered something else.", code="parser_crashed")


def _ignore() -> None: ...
