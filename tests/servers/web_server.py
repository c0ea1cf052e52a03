"""A web server on a real socket that answers exactly the bytes a test wants."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from harness.patience import PATIENCE
from ingest.asynchronous.tasks import cancel_all

Behaviour = Callable[["Request", asyncio.StreamWriter], Awaitable[None]]
"""Writes an answer; the connection is closed afterwards."""
Answer = bytes | Behaviour
"""Bytes are sent as they are, and the connection is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    path: str
    headers: dict[str, str]
    """By lower-case name."""
    body: bytes = b""


@dataclass(slots=True, kw_only=True)
class WebServer:
    answers: dict[str, Answer]
    """By path with query; any other is answered with 404."""
    port: int = 0
    connections: int = 0
    """Accepted so far."""
    open: int = 0
    """Connections that have not ended."""
    requests: list[Request] = field(default_factory=list)
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    """Told of each request and each connection that ends."""

    def url(self, path: str, *, host: str = "127.0.0.1", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}{path}"

    @property
    def paths(self) -> list[str]:
        return [request.path for request in self.requests]

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition on this server holds."""
        async with asyncio.timeout(PATIENCE), self.changed:
            await self.changed.wait_for(condition)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open += 1
        try:
            while await self._answer_one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            pass  # the client has gone
        finally:
            writer.close()
            self.open -= 1
            await self._tell()

    async def _answer_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        request = await _read(reader)
        self.requests.append(request)
        await self._tell()
        answer = self.answers.get(request.path, NOT_FOUND)
        if isinstance(answer, bytes):
            writer.write(answer)
            await writer.drain()
            return True
        await answer(request, writer)
        return False

    async def _tell(self) -> None:
        async with self.changed:
            self.changed.notify_all()


def response(
    body: bytes = b"", *, status: int = 200, headers: dict[str, str] | None = None
) -> bytes:
    """A whole answer with its Content-Length."""
    lines = [f"HTTP/1.1 {status} Said", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


def redirect(location: str, *, status: int = 302) -> bytes:
    return response(status=status, headers={"Location": location})


NOT_FOUND = response(b"no such page", status=404)


@asynccontextmanager
async def web_server(
    answers: Mapping[str, Answer] | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[WebServer]:
    """A server on a local address while the context is open; port 0 takes a free one."""
    web = WebServer(answers=dict(answers or {}))
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(web.serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(accept, host, port, ssl=tls)
    web.port = server.sockets[0].getsockname()[1]
    try:
        yield web
    finally:
        server.close()
        await cancel_all(*tasks)
        await server.wait_closed()


async def _read(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip("\r\n").split("\r\n")
    pairs = (line.partition(":") for line in lines)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(path=first.split(" ")[1], headers=headers, body=body)
