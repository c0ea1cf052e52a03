"""How much each application uses, and what is left of its quotas.

`room` is exact among transactions that hold the lock of `applications.lock_sources`, as all
requests that add something do. Workers do not take it: what they add, pages and files inside
files, may exceed a quota by what is being written at the same moment.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from psycopg.rows import class_row, dict_row, scalar_row

from ingest.errors import QuotaExceeded, QuotaInUse
from ingest.postgres.database import Connection, load_queries
from ingest.quotas import Excess, Quotas, Room, Usage

_SQL = load_queries("limits/usage.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallationUsage:
    """Totals of all applications; shares are those of the application that uses most of its quota.

    The last few seconds are missing.
    """

    sources: int
    stored_bytes: int
    staged_bytes: int
    pending_jobs: int
    sources_share: float
    stored_bytes_share: float
    staged_bytes_share: float
    pending_jobs_share: float


async def room(conn: Connection, application_id: UUID, defaults: Quotas) -> Room:
    """What the application uses, and its quotas: `defaults`, unless its settings say otherwise."""
    async with conn.cursor(row_factory=dict_row) as cur:
        await cur.execute(_SQL["of_application"], {"application_id": application_id})
        [row] = await cur.fetchall()
    own: Any = row.pop("quotas")
    return Room(quotas=defaults.overridden_by(own), used=Usage(**row))


async def require(
    conn: Connection, application_id: UUID, defaults: Quotas, *, sources: int = 0, jobs: int = 0
) -> None:
    """Raise QuotaExceeded unless these fit. Call it with the application's lock held."""
    left = await room(conn, application_id, defaults)
    refuse(left.excess(sources=sources, jobs=jobs))


def refuse(excess: Excess | None) -> None:
    """Raise the error for a request that exceeds a quota."""
    if excess is not None:
        kind = QuotaInUse if excess.ends_by_itself else QuotaExceeded
        raise kind(str(excess), facts=asdict(excess))


async def fold(conn: Connection, *, limit: int) -> int:
    """Add up to `limit` changes to the totals; returns how many. 0 while another process does."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["try_lock_totals"])
        if not await cur.fetchone():
            return 0
        await cur.execute(_SQL["fold"], {"limit": limit})
        return int(await cur.fetchone() or 0)


async def recount(conn: Connection) -> int:
    """Count everything again; returns how many totals were wrong."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["lock_totals"])
        await cur.execute(_SQL["recount"])
        return int(await cur.fetchone() or 0)


async def of_installation(conn: Connection, defaults: Quotas) -> InstallationUsage:
    """Totals for metrics; reads one row per application."""
    limits: Mapping[str, Any] = asdict(defaults)
    async with conn.cursor(row_factory=class_row(InstallationUsage)) as cur:
        await cur.execute(_SQL["installation"], limits)
        [usage] = await cur.fetchall()
    return usage
