"""One transaction on a psycopg connection of its own, for peers that push within the caller's."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, LiteralString

from psycopg import AsyncConnection, sql


@asynccontextmanager
async def transaction(dsn: str, table: LiteralString) -> AsyncIterator[AsyncConnection[Any]]:
    """Committed at the end of the block, together with statistics of the table."""
    async with await AsyncConnection.connect(dsn) as conn:
        yield conn
        await conn.execute(sql.SQL("analyze {}").format(sql.Identifier(table)))
