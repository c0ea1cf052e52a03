"""Knowledge sources by a filter: pages of a list, and counts by state.

No index serves `text` and `metadata` (rag.source_contains). So a request reads at most
`SCANNED` sources that the other conditions leave, newest first, and says where it stopped.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, get_args
from uuid import UUID

from psycopg.rows import kwargs_row
from psycopg.types.json import Jsonb

from ingest.model import JobStatus, SourceStatus
from ingest.postgres.database import Connection, fill_in, load_queries
from ingest.store.lists.counts import MOST_COUNTED, StatusCount
from ingest.store.lists.patterns import containing
from ingest.store.sources.source_views import StoredSource, stored_source

_SQL = load_queries("lists/source_lists.sql")

SCANNED: Final = 100_000
_SCANNED_PER_STATUS: Final = 20_000

SourceSort = Literal["createdAt", "updatedAt", "chunkCount", "tokenCount", "sizeBytes"]
TIMES: Final = frozenset[SourceSort]({"createdAt", "updatedAt"})
"""Orders by a time; the others are by a number."""
# Each has an index. A site has no size.
_KEYS: Final[Mapping[SourceSort, bytes]] = {
    "createdAt": b"source.created_at",
    "updatedAt": b"source.updated_at",
    "chunkCount": b"source.chunk_count",
    "tokenCount": b"source.token_count",
    "sizeBytes": b"coalesce(source.size_bytes, 0)",
}
_AMOUNTS: Final = frozenset[SourceSort]({"chunkCount", "tokenCount", "sizeBytes"})
Position = tuple[datetime | int, UUID]
"""What sources are sorted by, and the id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFilter:
    """Which sources; None: any. All conditions must hold."""

    status: SourceStatus | None = None
    type: str | None = None
    batch_id: UUID | None = None
    uri: str | None = None
    collection_id: UUID | None = None
    error_code: str | None = None
    text: str | None = None
    """In the name or the path or URL, in any case."""
    metadata: Mapping[str, Any] | None = None
    """Contained in the metadata of the source."""
    since: datetime | None = None
    """Created then or later."""
    updated_since: datetime | None = None

    @property
    def needs_scan(self) -> bool:
        return self.text is not None or self.metadata is not None

    @property
    def is_rare(self) -> bool:
        """Whether it finds few sources, and hardly any of the largest: read those, then sort them.

        In the order of an index of amounts, Postgres would read nearly all others first: it does
        not know that what has failed has no chunks.
        """
        return self.error_code is not None or self.status not in (None, "completed", "partial")

    def parameters(self, application_id: UUID) -> dict[str, Any]:
        return {
            "application_id": application_id,
            "status": self.status,
            "type": self.type,
            "batch_id": self.batch_id,
            "uri": self.uri,
            "collection_id": self.collection_id,
            "error_code": self.error_code,
            "pattern": None if self.text is None else containing(self.text),
            "metadata": None if self.metadata is None else Jsonb(dict(self.metadata)),
            "since": self.since,
            "updated_since": self.updated_since,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePage:
    rows: list[StoredSource]
    next: Position | None
    """Where the next page begins; None: there are no more. A page that read `SCANNED` sources may
    have few rows, even none, and a next page."""


async def page(
    conn: Connection,
    *,
    application_id: UUID,
    where: SourceFilter,
    limit: int,
    before: Position | None,
    sort: SourceSort = "createdAt",
) -> SourcePage:
    """Up to `limit` sources, newest or largest first, before the position `before`."""
    before_key, before_id = before or (None, None)
    values = {
        **where.parameters(application_id),
        "before_key": before_key,
        "before_id": before_id,
    }
    end = await _scan_end(conn, sort, values) if where.needs_scan else None
    oldest_key, oldest_id = end or (None, None)
    values |= {"oldest_key": oldest_key, "oldest_id": oldest_id, "limit": limit + 1}
    async with conn.cursor(row_factory=kwargs_row(stored_source)) as cur:
        await cur.execute(
            page_statement(sort, where if sort in _AMOUNTS else None), values, prepare=False
        )
        rows = await cur.fetchall()
    shown = rows[:limit]
    if len(rows) <= limit:
        return SourcePage(rows=shown, next=end)
    last = shown[-1]
    return SourcePage(rows=shown, next=(_key(last, sort), last.id))


def _key(row: StoredSource, sort: SourceSort) -> datetime | int:
    keys: dict[SourceSort, datetime | int | None] = {
        "createdAt": row.created_at,
        "updatedAt": row.updated_at,
        "chunkCount": row.chunk_count,
        "tokenCount": row.token_count,
        "sizeBytes": row.size_bytes,
    }
    return keys[sort] or 0


async def scan_end(
    conn: Connection, *, application_id: UUID, where: SourceFilter
) -> Position | None:
    """Where a request that reads the newest sources stops; None: it reads them all."""
    if not where.needs_scan:
        return None
    values = {**where.parameters(application_id), "before_key": None, "before_id": None}
    return await _scan_end(conn, "createdAt", values)


async def _scan_end(conn: Connection, sort: SourceSort, values: dict[str, Any]) -> Position | None:
    cursor = await conn.execute(
        scan_end_statement(sort), {**values, "scan": SCANNED}, prepare=False
    )
    return await cursor.fetchone()


def page_statement(sort: SourceSort, where: SourceFilter | None = None) -> bytes:
    return fill_in(_SQL["page"], key=_KEYS[sort] + (b" + 0" if where and where.is_rare else b""))


def scan_end_statement(sort: SourceSort) -> bytes:
    return fill_in(_SQL["scan_end"], key=_KEYS[sort])


async def counts(
    conn: Connection, *, application_id: UUID, where: SourceFilter
) -> list[StatusCount]:
    """How many sources the filter has of each state, whatever state it asks for."""
    scan = _SCANNED_PER_STATUS if where.needs_scan else MOST_COUNTED + 1
    cursor = await conn.execute(
        _SQL["counts"],
        {
            **where.parameters(application_id),
            "statuses": list(get_args(SourceStatus)),
            "scan": scan,
        },
        prepare=False,
    )
    return [
        StatusCount.bounded(status, matching, is_complete=scanned < scan)
        for status, matching, scanned in await cursor.fetchall()
    ]


async def children(conn: Connection, *, application_id: UUID, id: UUID) -> list[StatusCount]:
    """Jobs of the source's current run for the files in its file, or the pages of its site."""
    cursor = await conn.execute(
        _SQL["children"],
        {
            "application_id": application_id,
            "id": id,
            "statuses": list(get_args(JobStatus)),
            "limit": MOST_COUNTED + 1,
        },
        prepare=False,
    )
    return [
        StatusCount.bounded(status, count, is_complete=True)
        for status, count in await cursor.fetchall()
    ]
