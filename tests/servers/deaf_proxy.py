"""A TCP proxy before Postgres that can lose notifications, or everything that the server sends."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict, make_conninfo

_NOTIFICATION = b"A"


class DeafProxy:
    """Passes on to the Postgres behind a Unix socket."""

    def __init__(self, dsn: str) -> None:
        options = conninfo_to_dict(dsn)
        self._socket = Path(str(options["host"])) / f".s.PGSQL.{options['port']}"
        self._dsn = dsn
        self.dsn = ""
        self.loses_notifications = False
        self.connections = 0
        self._silent = 0

    def silence(self) -> None:
        """Keep the present connections open, but lose what the server sends."""
        self._silent = self.connections

    @asynccontextmanager
    async def running(self) -> AsyncIterator["DeafProxy"]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        self.dsn = make_conninfo(
            self._dsn, host="127.0.0.1", port=port, sslmode="disable", gssencmode="disable"
        )
        try:
            yield self
        finally:
            server.close()

    async def _serve(self, client: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        self.connections += 1
        number = self.connections
        answers, server = await asyncio.open_unix_connection(self._socket)
        requests = asyncio.create_task(_copy(client, server))
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                while True:  # type, length including itself, body
                    head = await answers.readexactly(5)
                    body = await answers.readexactly(int.from_bytes(head[1:]) - 4)
                    is_lost = self.loses_notifications and head[:1] == _NOTIFICATION
                    if not is_lost and number > self._silent:
                        back.write(head + body)
                        await back.drain()
        finally:
            requests.cancel()
            server.close()
            back.close()


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await source.read(1 << 16):
            target.write(data)
            await target.drain()
    target.close()
