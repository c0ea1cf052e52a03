"""Applications: the tenants of an installation."""

from uuid import UUID

from ingest.db import Connection, load_queries

_SQL = load_queries("applications.sql")


async def lock_sources(conn: Connection, application_id: UUID) -> None:
    """Let one transaction at a time add or remove sources of an application.

    Taken before any row lock. Workers do not take it: it never waits for one.
    """
    await conn.execute(_SQL["lock_sources"], {"application_id": application_id})


async def default_id(conn: Connection) -> UUID:
    """The application that the operator's key acts on when it names no other."""
    row = await (await conn.execute(_SQL["default_id"])).fetchone()
    if row is None:
        raise RuntimeError("the migrations add a default application")
    return UUID(str(row[0]))
