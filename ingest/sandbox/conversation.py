"""Requests to one parser process, one after the other.

A small file is sent while the one before it is read: so the process does not wait for the parent,
and what each request costs beside the reading (a slot, watching the process, its processor time) is
shared. The process answers in order. If it ends, that is due to the first file without an answer;
those behind it are asked again, of another process.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

import structlog

from ingest.errors import Permanent, Transient
from ingest.sandbox import protocol, replies
from ingest.sandbox.messages import ParseRequest, Reply, Request
from ingest.sandbox.process import Child
from ingest.sandbox.reply_checks import BadFrame
from ingest.sandbox.scratch_quota import allowance

log = structlog.get_logger()

_SMALL: Final = 128 * 1024  # bytes of a file
_AHEAD: Final = 4
"""Files that a process has at a time, including the one that it reads."""
_SECONDS: Final = 0.1
"""After that, no more are sent: other applications may be waiting."""
_PATIENCE_SECONDS: Final = 1.0
"""Files do not wait longer for the one before them: other processes may be free."""
_MOST_NOTES: Final = 100  # at once


class Call:
    """A request that waits for a process, or for its answer."""

    def __init__(
        self,
        path: Path | None,
        request: Request,
        *,
        seconds: float,
        text: str = "",
        on_step: Callable[[], None] | None = None,
    ) -> None:
        """`seconds`: the time limit per stage. `text`: as in replies.py. `on_step`: called for each
        progress frame of the stage `extract`."""
        self.path = path
        self.request = request
        self.seconds = seconds
        self.text = text
        self.on_step = on_step
        self.number = 0
        """Of the request to the process that has it."""
        self.answer: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self.on_cancel: Callable[[], object] | None = None
        """Called if nobody waits for the answer any longer."""
        self.may_share = isinstance(request, ParseRequest) and _is_small(path)

    @property
    def is_over(self) -> bool:
        return self.answer.done()

    def succeed(self, reply: Reply) -> None:
        if not self.is_over:
            self.answer.set_result(reply)

    def fail(self, error: Exception) -> None:
        if not self.is_over:
            self.answer.set_exception(error)

    def cancel(self) -> None:
        self.answer.cancel()
        if self.on_cancel is not None:
            self.on_cancel()


def stopped() -> Transient:
    return Transient("The parser was stopped.", code="internal")


def _is_small(path: Path | None) -> bool:
    try:
        return path is not None and path.stat().st_size <= _SMALL
    except OSError:
        return True  # nor can it be opened, which keeps nobody waiting


@dataclass(slots=True)
class CallQueue:
    """Calls of an application, and the tasks that serve them."""

    calls: deque[Call] = field(default_factory=deque)
    readers: int = 0
    entering: int = 0
    """Readers that wait for a slot."""

    def next(self) -> Call | None:
        while self.calls:
            if not (call := self.calls.popleft()).is_over:
                return call
        return None

    def share(self) -> int:
        """How many calls a reader may take that has a slot, if all wait for the same time."""
        return len(self.calls) // (self.entering + 1)


class Conversation:
    """Serves a call, and small ones that wait behind it."""

    def __init__(
        self,
        child: Child,
        call: Call,
        waiting: deque[Call],
        *,
        share: Callable[[], int],
        is_worn: Callable[[Child, Reply], bool],
        on_returned: Callable[[], None],
    ) -> None:
        """`waiting`: further calls of the application. `share`: how many of them this process may
        take now. `is_worn`: whether the process must read no other file after this answer.
        `on_returned`: called when `waiting` gets back calls that others have to serve.
        """
        self._child = child
        self._sent = deque([call])
        """The first is being read."""
        self._waiting = waiting
        self._share = share
        self._is_worn = is_worn
        self._on_returned = on_returned
        self._loop = asyncio.get_running_loop()
        self._since = self._loop.time()
        """When it was begun."""
        self._until = self._since + _SECONDS
        self._stage = "extract"
        self._is_last = False
        """Whether the process ends after this file."""
        self._last: Reply | None = None

    async def hold(self) -> Reply | None:
        """The last answer; None: the process must be discarded."""
        self._look_later()
        try:
            return await self._talk()
        except Exception as error:
            if self._sent:
                await self._blame_first(error)
            else:  # each has its answer, and only tidying up failed
                log.warning("parser_not_kept", exc_info=True)
        finally:
            self._timer.cancel()
            self._return_from(0)
        return None

    async def _talk(self) -> Reply | None:
        first = self._sent[0]
        async with asyncio.timeout(first.seconds) as limit, self._child.watched(first.request):
            self._send(first)
            while self._sent:
                self._since, self._stage = self._loop.time(), "extract"
                if self._sent[0].is_over:
                    self._stop()
                self._send_ahead()
                call = self._sent[0]
                self._last = await self._receive(call, limit)
                self._sent.popleft()
                call.succeed(self._last)
                if self._is_last or self._is_worn(self._child, self._last):
                    return None
            await self._child.tidy()
        return self._last

    def _send(self, call: Call) -> None:
        """Raises Transient if the file cannot be opened, OSError if the process is gone."""
        call.on_cancel = self._cancelled
        if call.path is None:
            call.number = self._child.send(None, call.request, cpu_seconds=call.seconds)
            return
        with _opened(call.path) as file:
            call.number = self._child.send(file.fileno(), call.request, cpu_seconds=call.seconds)

    def _send_ahead(self) -> None:
        if self._is_last or not self._sent[0].may_share or self._since > self._until:
            return
        most = min(_AHEAD, len(self._sent) + self._share())
        while len(self._sent) < most and self._waiting:
            call = self._waiting[0]
            if not call.is_over and not self._may_follow(call):
                return
            self._waiting.popleft()
            if call.is_over:
                continue
            self._sent.append(call)
            try:
                self._send(call)
            except OSError:
                # The process has ended, after the file before this one or because of it.
                self._is_last = True
                self._return_from(len(self._sent) - 1)
                return
            except Exception as error:  # nothing of it was sent
                self._sent.pop()
                call.fail(error)

    def _may_follow(self, call: Call) -> bool:
        return call.may_share and allowance(call.request) == allowance(self._sent[0].request)

    async def _receive(self, call: Call, limit: asyncio.Timeout) -> Reply:
        limit.reschedule(self._since + call.seconds)
        notes = 0
        while (body := await self._child.receive()).startswith(protocol.NOTE):
            self._stage = replies.decode_note(body)
            now = self._loop.time()
            notes += 1
            if notes > _MOST_NOTES + 2 * (now - self._since) / protocol.NOTE_SECONDS:
                raise BadFrame("too many steps")
            limit.reschedule(now + call.seconds)
            if self._stage == "extract" and call.on_step is not None:
                call.on_step()
        reply = replies.decode_reply(body, number=call.number, text=call.text)
        if not call.is_over:  # else nobody removes the folder
            self._child.hand_over_members(call.request)
        return reply

    async def _blame_first(self, error: Exception) -> None:
        """Fail the file that was being read."""
        if isinstance(error, TimeoutError):
            seconds = self._sent[0].seconds
            message = f"Reading the file took longer than {seconds:g} s (stage {self._stage})."
            self._fail(Permanent(message, code="parser_timeout"))
        elif isinstance(error, EOFError | OSError):
            await self._explain_end()
        else:
            self._fail(_crashed(error) if isinstance(error, BadFrame) else error)

    async def _explain_end(self) -> None:
        """Tell the first caller why the process ended."""
        error = await self._child.exit_error(self._stage)
        call = self._sent[0]
        if self._child.quota_exceeded and self._last is not None:
            call.may_share = False  # the files before it may have left too much: again, alone
        else:
            self._fail(error)

    def _cancelled(self) -> None:
        """A call was cancelled. The process ends if it reads its file, or else when it would."""
        if self._sent and self._sent[0].is_over:
            self._stop()

    def _stop(self) -> None:
        self._is_last = True
        self._child.kill()

    def _look_later(self) -> None:
        self._timer = self._loop.call_later(_PATIENCE_SECONDS, self._look)

    def _look(self) -> None:
        """Let others serve the calls that have waited long for the one before them."""
        if len(self._sent) > 1 and self._loop.time() - self._since >= _PATIENCE_SECONDS:
            self._is_last = True  # its answers to them are not wanted any more
            self._return_from(1)
        self._look_later()

    def _fail(self, error: Exception) -> None:
        self._sent.popleft().fail(error)

    def _return_from(self, index: int) -> None:
        """Return calls to those that wait, without the first ones."""
        returned = list(self._sent)[index:]
        for call in returned:
            self._sent.remove(call)
            call.on_cancel = None
        if returned:
            self._waiting.extendleft(reversed(returned))
            self._on_returned()


def _crashed(error: BadFrame) -> Permanent:
    crash = Permanent(f"The parser sent {error}.", code="parser_crashed")
    crash.__cause__ = error
    return crash


def _opened(path: Path) -> BinaryIO:
    """The file. Raises Transient if it cannot be opened."""
    try:
        return path.open("rb")
    except OSError as error:
        raise Transient("The file cannot be opened for parsing.", code="internal") from error
