"""Do claims stay fast as the number of pending jobs grows?"""

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid4

from ingest.postgres.database import Connection
from ingest.store.queue import claims
from ingest.store.queue.jobs import ClaimedJob

BATCH = 100
WORKER = uuid4()
APPLICATIONS = (1, 1000)


@dataclass(frozen=True, kw_only=True)
class Claimed:
    pending: int
    applications: int
    ms: float
    """The median time of a claim of 100."""


async def add_applications(conn: Connection, count: int) -> list[UUID]:
    cursor = await conn.execute(
        "insert into app.applications (name) select 'n' || n from generate_series(1, %s) as n "
        "returning id",
        [count],
    )
    return [id for (id,) in await cursor.fetchall()]


async def claim(conn: Connection, cursor: UUID) -> list[ClaimedJob]:
    return await claims.claim(conn, types=["file"], batch=BATCH, worker=WORKER, cursor=cursor)


async def _claim_ms(conn: Connection, owners: Sequence[UUID], count: int) -> float:
    """The median time of `count` claims, rolled back, with cursors spread over the applications."""
    spent = []
    for n in range(count):
        async with conn.transaction(force_rollback=True):
            await claims.set_planner(conn)
            started = time.perf_counter()
            claimed = await claim(conn, owners[n * len(owners) // count])
            spent.append(time.perf_counter() - started)
        assert len(claimed) == BATCH, len(claimed)
    return statistics.median(spent) * 1000


async def by_backlog(conn: Connection, backlogs: Sequence[int], *, repeats: int) -> list[Claimed]:
    """Claim times with one application, then with a thousand that share the backlog equally.

    Ids follow each other, as those of the queue do.
    """
    measured = []
    for count in APPLICATIONS:
        owners = sorted(await add_applications(conn, count))
        await conn.execute("truncate rag.processing_jobs cascade")
        there = 0
        for backlog in backlogs:
            await conn.execute(
                "insert into rag.processing_jobs (id, application_id, type, max_attempts) "
                "select lpad(to_hex(n), 32, '0')::uuid, (%s::uuid[])[1 + n %% %s], 'file', 5 "
                "from generate_series(%s::bigint, %s::bigint) as n",
                [owners, count, there + 1, backlog],
            )
            there = backlog
            await conn.execute("vacuum analyze rag.processing_jobs")
            ms = await _claim_ms(conn, owners, repeats)
            measured.append(Claimed(pending=backlog, applications=count, ms=ms))
            print(f"  {backlog:,} pending of {count:,}: a claim takes {ms:.2f} ms", flush=True)
    return measured
