"""One socket of the live WebSocket, whose other end takes nothing."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast
from uuid import uuid4

import pytest
from fastapi import WebSocket

from api.authentication import Key
from api.live.client_queue import Message
from api.live.hub import Hub
from api.live.subscriptions import Subscriber
from api.live.websocket import DOES_NOT_READ, Session
from harness.patience import PATIENCE


class FullSocket:
    """Accepts `room` messages and then holds up whoever sends."""

    def __init__(self, room: int) -> None:
        self.app = SimpleNamespace(
            state=SimpleNamespace(runtime=SimpleNamespace(pool=SimpleNamespace(of=lambda _: None)))
        )
        self.sent: list[str] = []
        self._room = room

    async def receive(self) -> Any:
        await asyncio.Event().wait()

    async def send_text(self, text: str) -> None:
        if len(self.sent) == self._room:
            await asyncio.Event().wait()
        self.sent.append(text)


async def run(socket: FullSocket, messages: int) -> int | None:
    subscriber = Subscriber(application_id=uuid4())
    for number in range(messages):
        subscriber.queue.offer(Message(type="progress", text=f"{number}"))
    operator = Key(application_id=subscriber.application_id, role="admin", is_operator=True)
    session = Session(cast(WebSocket, socket), cast(Hub, None), subscriber, operator)
    async with asyncio.timeout(PATIENCE):
        return await session.run()


async def test_blocked_send_closes_the_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("api.live.websocket._SEND_SECONDS", 0.05)
    socket = FullSocket(room=3)

    code = await run(socket, messages=5)

    assert code == DOES_NOT_READ
    assert socket.sent == ["0", "1", "2"]


async def test_pings_are_sent_between_messages_and_silence_ends_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("api.live.websocket._SEND_SECONDS", 0.1)
    monkeypatch.setattr("api.live.websocket._PING_SECONDS", 0.15)
    socket = FullSocket(room=4)

    code = await run(socket, messages=2)

    assert code == DOES_NOT_READ
    assert socket.sent == ["0", "1", '{"type":"ping"}', '{"type":"ping"}']
