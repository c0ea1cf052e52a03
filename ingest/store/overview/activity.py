"""Ended attempts of an application over time: per minute, after two days per hour."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from ingest.postgres.database import Connection, load_queries
from ingest.store.view import UtcTime, View

_SQL = load_queries("overview/activity.sql")

FILE_TYPES: Final = ("file", "member")
PAGE_TYPES: Final = ("url", "crawl_page")

MINUTES_KEPT: Final = timedelta(days=2)
"""Older minutes are merged into hours."""
_MERGED_AT_ONCE: Final = 5_000

ActivityOutcome = Literal["completed", "failed", "review_needed", "retry"]
"""`retry`: the attempt failed, and another one follows."""


class Kind(NamedTuple):
    """What is counted apart."""

    application_id: UUID
    type: str
    outcome: ActivityOutcome


@dataclass(slots=True)
class Amounts:
    """Sums over attempts."""

    n: int = 0
    """Attempts that ended."""
    tokens: int = 0
    """Of the documents that were stored."""
    bytes: int = 0
    """Of the files that were read; of a web page: of its text."""

    def add(self, other: "Amounts") -> None:
        self.n += other.n
        self.tokens += other.tokens
        self.bytes += other.bytes


Minutes = Mapping[datetime, Mapping[Kind, Amounts]]


class Activity(View):
    """Attempts that ended within a step, with one outcome."""

    start: UtcTime
    outcome: ActivityOutcome
    jobs: int
    """All of them: those of files, of web pages and others."""
    files: int
    pages: int
    """Web pages."""
    tokens: int
    """Of the documents that were stored."""
    bytes: int
    """Of the files that were read; of web pages: of their text."""


async def minute(conn: Connection) -> datetime:
    """The current minute by the database's clock."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        [now] = await (await cur.execute(_SQL["minute"])).fetchall()
    return now  # type: ignore[no-any-return]  # a timestamptz


async def store(conn: Connection, *, worker_id: UUID, totals: Minutes) -> None:
    """Write a worker's totals of these minutes. They replace those that it wrote before."""
    rows = list(_rows(totals))
    columns = list(zip(*rows, strict=True))
    names = ("application_ids", "minutes", "types", "outcomes", "ns", "tokens", "bytes")
    values = {name: list(column) for name, column in zip(names, columns, strict=True)}
    await conn.execute(_SQL["store"], {"worker_id": worker_id, **values})


def _rows(totals: Minutes) -> Iterator[tuple[UUID, datetime, str, str, int, int, int]]:
    for start, kinds in totals.items():
        for kind, sums in kinds.items():
            yield (
                kind.application_id,
                start,
                kind.type,
                kind.outcome,
                sums.n,
                sums.tokens,
                sums.bytes,
            )


async def read(
    conn: Connection, *, application_id: UUID, start: datetime, end: datetime, step: timedelta
) -> Sequence[Activity]:
    """Sums of the minutes and hours that begin from `start` until before `end`, per step."""
    async with conn.cursor(row_factory=class_row(Activity)) as cur:
        await cur.execute(
            _SQL["read"],
            {
                "application_id": application_id,
                "start": start,
                "end": end,
                "step": step,
                "files": list(FILE_TYPES),
                "pages": list(PAGE_TYPES),
            },
        )
        return await cur.fetchall()


async def merge(
    conn: Connection, *, older_than: timedelta = MINUTES_KEPT, limit: int = _MERGED_AT_ONCE
) -> int:
    """Merge up to `limit` rows of old minutes into hours; returns how many."""
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["merge"], {"older_than": older_than, "limit": limit})
        return int(await cur.fetchone() or 0)


async def forget(conn: Connection, *, older_than: timedelta, limit: int) -> int:
    """Delete up to `limit` rows of hours that have expired; returns how many."""
    return (await conn.execute(_SQL["forget"], {"older_than": older_than, "limit": limit})).rowcount
