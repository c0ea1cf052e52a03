"""A pool of connections, reused for requests to the same origin.

We do not use httpcore's pool: here a connection belongs to its request until the request ends, so a
request cancelled at any point leaks neither a socket nor a slot.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import httpcore

from ingest.providers.fetch.connect import Dialer
from ingest.providers.fetch.failures import CONNECTION_LOST, network_errors
from ingest.providers.fetch.fetch_target import FetchTarget

# Further requests wait for a slot, since a process may not open many more files.
_MOST_OPEN: Final = 100
_MOST_IDLE: Final = 20
_IDLE_SECONDS: Final = 15


class Connections:
    def __init__(self, dialer: Dialer) -> None:
        self._dialer = dialer
        self._idle: list[httpcore.AsyncHTTP11Connection] = []
        self._slots = asyncio.Semaphore(_MOST_OPEN)

    @asynccontextmanager
    async def get(
        self, target: FetchTarget, headers: list[tuple[bytes, bytes]]
    ) -> AsyncIterator[httpcore.Response]:
        """The response to a GET; its body can be read while the context is open.

        The connection is kept if the body was read completely, and closed otherwise.
        """
        request = httpcore.Request("GET", _url(target), headers=headers)
        async with self._slots:
            await self._drop_expired()
            connection, response = await self._send(target, request)
            try:
                yield response
            finally:
                try:
                    await response.aclose()
                finally:
                    await self._put_back(connection)

    @asynccontextmanager
    async def post(
        self, target: FetchTarget, headers: list[tuple[bytes, bytes]], content: bytes
    ) -> AsyncIterator[httpcore.Response]:
        """The response to a POST, on a new connection that is closed afterwards.

        If a reused connection broke, we could not tell whether the request had arrived.
        """
        request = httpcore.Request("POST", _url(target), headers=headers, content=content)
        async with self._slots:
            connection, response = await self._send_fresh(target, request)
            try:
                yield response
            finally:
                try:
                    await response.aclose()
                finally:
                    await connection.aclose()

    async def close(self) -> None:
        while self._idle:
            await self._idle.pop().aclose()

    async def _send(
        self, target: FetchTarget, request: httpcore.Request
    ) -> tuple[httpcore.AsyncHTTP11Connection, httpcore.Response]:
        kept = self._take(request.url.origin)
        if kept is not None:
            try:
                return kept, await _answer(kept, request)
            except CONNECTION_LOST:
                pass  # the server closed it meanwhile; a GET may be sent again
        return await self._send_fresh(target, request)

    async def _send_fresh(
        self, target: FetchTarget, request: httpcore.Request
    ) -> tuple[httpcore.AsyncHTTP11Connection, httpcore.Response]:
        with network_errors(target.host):
            stream = await self._dialer.connect(target)
            fresh = httpcore.AsyncHTTP11Connection(request.url.origin, stream, _IDLE_SECONDS)
            return fresh, await _answer(fresh, request)

    def _take(self, origin: httpcore.Origin) -> httpcore.AsyncHTTP11Connection | None:
        for index, connection in enumerate(self._idle):
            if connection.can_handle_request(origin):
                return self._idle.pop(index)
        return None

    async def _put_back(self, connection: httpcore.AsyncHTTP11Connection) -> None:
        if connection.is_idle() and len(self._idle) < _MOST_IDLE:
            self._idle.append(connection)
        else:
            await connection.aclose()

    async def _drop_expired(self) -> None:
        for connection in list(self._idle):
            # Another request may have taken it while we were closing an earlier one.
            if connection in self._idle and connection.has_expired():
                self._idle.remove(connection)
                await connection.aclose()


async def _answer(
    connection: httpcore.AsyncHTTP11Connection, request: httpcore.Request
) -> httpcore.Response:
    try:
        return await connection.handle_async_request(request)
    except BaseException:
        await connection.aclose()
        raise


def _url(target: FetchTarget) -> httpcore.URL:
    return httpcore.URL(
        scheme=target.scheme, host=target.host, port=target.port, target=target.path
    )
