"""Connections for tests and benchmarks, which look at all applications."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ingest.postgres.database import Pool, across_applications, open_pool


@asynccontextmanager
async def pool_across_applications(
    dsn: str, *, size: int, application_name: str
) -> AsyncIterator[Pool]:
    """Like `open_pool`, across applications. Needs a migrated database."""
    async with open_pool(dsn, size=size, application_name=application_name) as connections:
        yield across_applications(connections)
