"""Claims of files, and the limits of their type."""

from typing import Any
from uuid import uuid4

from ingest.handlers.registry import Handler
from ingest.postgres.database import Connection
from ingest.worker.claiming import Claiming
from tests.support.running_worker import Scripted


def claiming_files() -> Claiming:
    """What a worker of its own claims by."""
    handlers: dict[str, Handler] = {"file": Scripted()}
    return Claiming(worker=uuid4(), handlers=handlers)


async def limit_files(conn: Connection, **columns: Any) -> None:
    """Set columns of the type of job."""
    for column, value in columns.items():
        await conn.execute(
            f"update rag.job_types set {column} = %s where type = 'file'",
            [value],
        )
