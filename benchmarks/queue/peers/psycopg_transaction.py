"""A transaction on a separate connection, for peers that push in the caller's transaction."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, LiteralString

from psycopg import AsyncConnection, sql


@asynccontextmanager
async def transaction(dsn: str, table: LiteralString) -> AsyncIterator[AsyncConnection[Any]]:
    """Analyse the table and commit at the end of the block."""
    async with await AsyncConnection.connect(dsn) as conn:
        yield conn
        await conn.execute(sql.SQL("analyze {}").format(sql.Identifier(table)))
