"""The lock between claims and changes to what they read: pauses, job types and limits.

A claim (`claims.begin`) shares it until it commits; a change takes it exclusively. So a claim
either commits before the change or sees it, because each later statement of the claim gets a new
snapshot.
"""

from ingest.postgres.database import Connection, load_queries

_SQL = load_queries("queue/config_lock.sql")


async def lock_config_exclusive(conn: Connection) -> None:
    """Wait for claims in progress, and block new ones until the caller's transaction ends."""
    await conn.execute(_SQL["exclusive"])
