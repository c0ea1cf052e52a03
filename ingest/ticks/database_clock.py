"""The database's clock, for schedules: a replica whose own clock is wrong fires with the others."""

from datetime import UTC, datetime, timedelta

from ingest.postgres.database import Pool
from ingest.store.limits import schedules


class DatabaseClock:
    """Our clock, put right by what it was off when the database was last asked."""

    def __init__(self) -> None:
        self._offset = timedelta(0)

    def now(self) -> datetime:
        """In UTC."""
        return datetime.now(UTC) + self._offset

    async def set(self, pool: Pool) -> None:
        """Ask the database what time it is."""
        async with pool.connection() as conn:
            theirs = await schedules.now(conn)
        self._offset = theirs - datetime.now(UTC)
