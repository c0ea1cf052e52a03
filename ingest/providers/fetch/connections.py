"""Connections that are kept open for the next request to the same origin.

A pool of our own instead of httpcore's, because a connection here belongs to its request until the
request ends, however it ends: one that is cancelled at any point leaves neither a socket nor a
used-up slot behind.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import httpcore

from ingest.providers.fetch.dial import Dialer
from ingest.providers.fetch.failures import CONNECTION_LOST, network_errors
from ingest.providers.fetch.urls import Target

# Jobs beyond these wait for one: a process has not many more files that it may open.
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
        self, target: Target, headers: list[tuple[bytes, bytes]]
    ) -> AsyncIterator[httpcore.Response]:
        """The answer to a GET; its body can be read while the context is open.

        The connection is kept if the body was read to its end, and closed otherwise.
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
        self, target: Target, headers: list[tuple[bytes, bytes]], content: bytes
    ) -> AsyncIterator[httpcore.Response]:
        """The answer to a POST, on a connection of its own, which is closed afterwards.

        On a kept one that breaks, nobody could tell whether it had arrived.
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
        self, target: Target, request: httpcore.Request
    ) -> tuple[httpcore.AsyncHTTP11Connection, httpcore.Response]:
        kept = self._take(request.url.origin)
        if kept is not None:
            try:
                return kept, await _answer(kept, request)
            except CONNECTION_LOST:
                pass  # closed by the server meanwhile; a GET may be sent again
        return await self._send_fresh(target, request)

    async def _send_fresh(
        self, target: Target, request: httpcore.Request
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
            # Another request may have taken it while one before it was closed.
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


def _url(target: Target) -> httpcore.URL:
    return httpcore.URL(
        scheme=target.scheme, host=target.host, port=target.port, target=target.path
    )
