"""A receiver of webhooks that answers what a test wants and keeps what it got."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from standardwebhooks import Webhook

from tests.servers.web_server import NOT_FOUND, Request, WebServer, response, web_server

DOWN = response(b"out of order\0", status=503)


@dataclass(slots=True, kw_only=True)
class Sink:
    web: WebServer
    answers: list[bytes] = field(default_factory=list)
    """Request after request; at the end of the list, 204."""
    gate: asyncio.Event | None = None
    """If set, answers wait until it opens."""

    @property
    def url(self) -> str:
        return self.web.url("/hook")

    @property
    def requests(self) -> list[Request]:
        return self.web.requests

    @property
    def events(self) -> list[dict[str, Any]]:
        """What arrived, whether it was taken or not."""
        return [json.loads(request.body) for request in self.requests]

    @property
    def types(self) -> list[str]:
        return [event["type"] for event in self.events]

    async def got(self, count: int) -> None:
        """Wait until so many requests have arrived."""
        await self.web.until(lambda: len(self.requests) >= count)

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> None:
        if self.gate is not None:
            await self.gate.wait()
        writer.write(self.answers.pop(0) if self.answers else response(status=204))


@asynccontextmanager
async def webhook_sink(*answers: bytes) -> AsyncIterator[Sink]:
    async with web_server({"/elsewhere": NOT_FOUND}) as web:
        sink = Sink(web=web, answers=list(answers))
        web.answers["/hook"] = sink._answer
        yield sink


def verified(request: Request, secret: str) -> Any:
    """The event, by the receiver's own library; WebhookVerificationError if it is not signed so."""
    return Webhook(secret).verify(request.body, request.headers)
