"""What `ingest serve` and its worker processes say to each other over their socket.

To a process: `WorkerOrder`, then `metrics` for each time that it shall say what it has counted.
From it: `ready`, then for each time the length of the text in bytes, and the text. Its end is that
of the other side.
"""

import socket
from dataclasses import asdict, dataclass
from typing import Final, Self
from uuid import UUID

import orjson

READY: Final = b"ready\n"
METRICS: Final = b"metrics\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOrder:
    """The first line to a worker process, as JSON."""

    dsn: str
    worker_id: UUID
    slots: int
    parsers: int
    parent: int

    @classmethod
    def receive(cls, parent: socket.socket) -> Self | None:
        """Wait for the order; None: the parent has ended."""
        line = b""
        while not line.endswith(b"\n"):
            part = parent.recv(4096)
            if not part:
                return None
            line += part
        values = orjson.loads(line)
        return cls(**{**values, "worker_id": UUID(values["worker_id"])})

    def line(self) -> bytes:
        return orjson.dumps(asdict(self)) + b"\n"
