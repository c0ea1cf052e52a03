"""The database's clock, for schedules: all replicas fire together even if a local clock is off."""

from datetime import UTC, datetime, timedelta

from ingest.postgres.database import Pool, transaction
from ingest.store.limits import schedules


class DatabaseClock:
    """The local clock, corrected by its last measured offset from the database's."""

    def __init__(self) -> None:
        self._offset = timedelta(0)

    def now(self) -> datetime:
        """Current time in UTC."""
        return datetime.now(UTC) + self._offset

    async def set(self, pool: Pool) -> None:
        """Measure the offset from the database's clock."""
        async with transaction(pool) as conn:
            theirs = await schedules.now(conn)
        self._offset = theirs - datetime.now(UTC)
