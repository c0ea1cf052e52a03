"""The send queue of one client; bounded, so a client that does not read costs little memory."""

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import Final
from uuid import UUID

MAX_MESSAGES: Final = 10_000
MAX_CHARACTERS: Final = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message that is serialised once and shared by all its receivers."""

    type: str
    text: str
    """A JSON object."""
    source_id: UUID | None = None
    seq: int | None = None


class QueueClosed(Exception):
    """The client is gone, or was dropped because it does not read."""


class ClientQueue:
    """Messages of one client, first in, first out.

    New events are offered without waiting; a replay waits for room. A queue that overflows closes
    permanently and discards its messages.
    """

    def __init__(self, *, count: int = MAX_MESSAGES, size: int = MAX_CHARACTERS) -> None:
        self._count = count
        self._size = size
        self._messages: deque[Message] = deque()
        self._characters = 0
        self._filled = asyncio.Event()
        self._drained = asyncio.Event()
        self.is_closed = False

    def offer(self, message: Message) -> bool:
        """Add a message; False when the queue is closed, or closes because it is full."""
        if self.is_closed:
            return False
        if len(self._messages) >= self._count or self._characters >= self._size:
            self.close()
            return False
        self._messages.append(message)
        self._characters += len(message.text)
        self._filled.set()
        return True

    async def put(self, message: Message) -> None:
        """Add a message once the queue is at most half full. Raises QueueClosed."""
        while not self.is_closed and self._is_half_full():
            self._drained.clear()
            await self._drained.wait()
        if not self.offer(message):
            raise QueueClosed

    async def take(self) -> Message:
        """Wait for the next message and return it. Raises QueueClosed."""
        while not self._messages:
            if self.is_closed:
                raise QueueClosed
            self._filled.clear()
            await self._filled.wait()
        message = self._messages.popleft()
        self._characters -= len(message.text)
        if not self._is_half_full():
            self._drained.set()
        return message

    def close(self) -> None:
        """Discard all messages and accept no more."""
        self.is_closed = True
        self._messages.clear()
        self._characters = 0
        self._filled.set()
        self._drained.set()

    def _is_half_full(self) -> bool:
        return 2 * len(self._messages) >= self._count or 2 * self._characters >= self._size
