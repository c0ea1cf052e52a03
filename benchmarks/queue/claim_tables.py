"""The cost of claims as tables: by backlog, and while many jobs go through the queue."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.core.postgres import Server
from benchmarks.core.results import Goal, Table
from benchmarks.queue.bloat import MIB, Measured, through
from benchmarks.queue.claim_time import APPLICATIONS, BATCH, Claimed, by_backlog
from harness.pools import pool_across_applications


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimSizes:
    backlogs: Sequence[int] = (1_000, 100_000, 1_000_000)
    repeats: int = 51
    """Number of claims for a median."""
    jobs: int = 1_000_000
    """Number of jobs that go through the queue."""
    kept_pending: int = 10_000


SMALL = ClaimSizes(backlogs=(150, 300), repeats=3, jobs=1_000, kept_pending=100)


def claim_tables(server: Server, sizes: ClaimSizes) -> tuple[list[Table], Goal]:
    with server.database("claims", migrated=True) as dsn:
        claimed, kept, pruned = asyncio.run(_measure(dsn, sizes))
    tables = [
        _by_backlog(claimed),
        _through("all of them kept", kept, sizes),
        _through("finished ones removed meanwhile", pruned, sizes),
    ]
    return tables, _goal(claimed)


async def _measure(
    dsn: str, sizes: ClaimSizes
) -> tuple[list[Claimed], list[Measured], list[Measured]]:
    async with pool_across_applications(dsn, size=4, application_name="benchmark") as pool:
        async with pool.session() as conn:
            claimed = await by_backlog(conn, sizes.backlogs, repeats=sizes.repeats)
        kept, pruned = [
            await through(pool, sizes.jobs, is_pruned=is_pruned, kept_pending=sizes.kept_pending)
            for is_pruned in (False, True)
        ]
    return claimed, kept, pruned


def _by_backlog(claimed: Sequence[Claimed]) -> Table:
    first = {one.applications: one.ms for one in reversed(claimed)}
    return Table(
        title=f"A fair claim of {BATCH}, by what is pending",
        columns=["applications", "pending", "ms", "times the first"],
        rows=[
            [
                f"{one.applications:,}",
                f"{one.pending:,}",
                f"{one.ms:.2f}",
                f"{one.ms / first[one.applications]:.2f}",
            ]
            for one in claimed
        ],
        note="Medians of claims that are taken back, with cursors all over the applications.",
    )


def _goal(claimed: Sequence[Claimed]) -> Goal:
    of_many = [one.ms for one in claimed if one.applications == APPLICATIONS[-1]]
    return Goal(
        text="Fair claim of 100 with 1,000,000 pending over 1,000 applications: at most 1.5 x the "
        "time with 1,000 pending",
        measured=of_many[-1] / of_many[0],
        at_most=1.5,
    )


def _through(how: str, measured: Sequence[Measured], sizes: ClaimSizes) -> Table:
    shown = [measured[0], measured[len(measured) // 2], measured[-1]]
    return Table(
        title=f"{sizes.jobs:,} jobs through the queue, {how}",
        columns=["done", "claim, ms", "jobs/s", "rows", "table", "ready index", "all indexes"],
        rows=[
            [
                f"{one.done:,}",
                f"{one.claim_ms:.2f}",
                f"{one.per_second:,.0f}",
                f"{one.live:,}",
                *(f"{size / MIB:.1f} MiB" for size in (one.table, one.ready, one.indexes)),
            ]
            for one in shown
        ],
        note=f"{sizes.kept_pending:,} are pending at any time, of 1,000 applications. One "
        f"connection enqueues and finishes, another claims {BATCH} at a time.",
    )
