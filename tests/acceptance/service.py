"""Real processes: `ingest serve`, `ingest api`, `ingest worker`, started, killed and asked."""

import socket
import sys
from pathlib import Path
from typing import Any, LiteralString

import psycopg

from ingest.embedded import EmbeddedPostgres

KEY = "rk_operator_key_of_the_acceptance_tests"
INGEST = Path(sys.executable).parent / "ingest"

FAST_LEASE = {"INGEST_HEARTBEAT": "0.5", "INGEST_STALE_AFTER": "2"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


class Database:
    """An embedded Postgres with the same DSN after each restart."""

    def __init__(self, folder: Path) -> None:
        self._server = EmbeddedPostgres(folder)
        self.dsn = self._server.start()

    def stop(self) -> None:
        self._server.stop()

    def start(self) -> None:
        self._server.start()

    def rows(self, query: LiteralString, *values: Any) -> list[Any]:
        with psycopg.connect(self.dsn, autocommit=True) as conn:
            return conn.execute(query, values).fetchall()

    def count(self, query: LiteralString, *values: Any) -> int:
        """The one number that a query answers."""
        [(number,)] = self.rows(query, *values)
        assert isinstance(number, int)
        return number
