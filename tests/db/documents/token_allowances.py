"""Tokens that an application may use in a day, and has used."""

from uuid import UUID

from psycopg.types.json import Jsonb

from ingest.postgres.database import Connection
from ingest.store.limits import token_budgets


async def allow(conn: Connection, application_id: UUID, tokens: int | None) -> None:
    settings = {} if tokens is None else {"tokensPerDay": tokens}
    await conn.execute(
        "update app.applications set settings = %s where id = %s",
        [Jsonb(settings), application_id],
    )


async def used(conn: Connection, application_id: UUID) -> int:
    state = await token_budgets.state(conn, application_id)
    assert state is not None
    return state.used
