"""Chunk settings, resolved in three layers: installation, application, source.

A transaction that changes settings queues a `rechunk` job for each source with outdated chunks. A
transaction that stores a document checks whether the settings changed since it was chunked. Both
take the locks in this module, so of two concurrent transactions one sees the other's changes.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Self, cast, get_args
from uuid import UUID

from psycopg.rows import scalar_row
from psycopg.types.json import Jsonb

from ingest.model import ChunkBy, ChunkSettings
from ingest.postgres.database import Connection, load_queries
from ingest.store.documents.chunking_json import chunking_json
from ingest.store.lenient_json import positive_integer
from ingest.store.queue import jobs
from ingest.store.queue.jobs import NewJob

_SQL = load_queries("documents/chunking.sql")

SMALLEST_CHUNK: Final = 32
"""Tokens."""
# Background work: the old chunks stay searchable meanwhile.
_PRIORITY: Final = -10


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkingOverrides:
    """Settings of one application or source; None: inherited from the layer above."""

    size: int | None = None
    overlap: int | None = None
    by: ChunkBy | None = None
    leave_out_furniture: bool | None = None

    @classmethod
    def from_json(cls, stored: Any) -> Self:
        """Parse stored JSON; tolerate invalid values from manual edits."""
        given = stored if isinstance(stored, dict) else {}
        size, by = positive_integer(given.get("size")), given.get("by")
        leave_out = given.get("leave_out_furniture")
        return cls(
            size=None if size is None else max(size, SMALLEST_CHUNK),
            overlap=0 if given.get("overlap") == 0 else positive_integer(given.get("overlap")),
            by=cast(ChunkBy, by) if by in get_args(ChunkBy) else None,
            leave_out_furniture=leave_out if isinstance(leave_out, bool) else None,
        )

    def to_json(self) -> dict[str, Any]:
        """Omit the unset fields."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkingDefaults:
    """Installation defaults."""

    chunking: ChunkSettings
    largest: int
    """Maximum tokens of a chunk: the input limit of the embedding model."""

    def effective(self, *choices: ChunkingOverrides) -> ChunkSettings:
        """Merge the layers; later choices override earlier ones.

        The overlap is capped at half of the size, since each may come from a different layer.
        """
        settings = self.chunking
        for own in choices:
            settings = replace(settings, **own.to_json())
        size = min(settings.size, self.largest)
        return replace(settings, size=size, overlap=min(settings.overlap, size // 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedChunking:
    """The settings with which content of a source was chunked."""

    application_id: UUID
    source_id: UUID
    used: ChunkSettings


async def effective(conn: Connection, source_id: UUID, defaults: ChunkingDefaults) -> ChunkSettings:
    """The effective settings of a source; the installation defaults if it does not exist."""
    found = await _all_effective(conn, [source_id], defaults)
    return found.get(source_id) or defaults.effective()


async def _all_effective(
    conn: Connection, source_ids: Sequence[UUID], defaults: ChunkingDefaults
) -> dict[UUID, ChunkSettings]:
    cursor = await conn.execute(_SQL["layers"], {"source_ids": list(source_ids)})
    return {id: resolve(defaults, *layers) for id, *layers in await cursor.fetchall()}


def resolve(
    defaults: ChunkingDefaults, application: Any, own: Any, furniture: Any = None
) -> ChunkSettings:
    """Effective settings from the stored JSON of a source (`own`) and its application.

    `furniture`: the stored blocks of a site.
    """
    settings = defaults.effective(
        ChunkingOverrides.from_json(application), ChunkingOverrides.from_json(own)
    )
    if not furniture or not settings.leave_out_furniture:
        return settings
    return replace(settings, furniture=tuple((key, uri) for key, uri in furniture))


async def rechunk_outdated(
    conn: Connection, applied: Sequence[AppliedChunking], *, defaults: ChunkingDefaults
) -> list[UUID]:
    """Queue a rechunk of each source whose settings have changed since; return those sources.

    Call it in the transaction that stores the chunks. Locks the sources.
    """
    changed = await outdated(conn, applied, defaults)
    for application_id in dict.fromkeys(one.application_id for one in changed):
        own = [one.source_id for one in changed if one.application_id == application_id]
        await _enqueue(conn, application_id, own)
    return [one.source_id for one in changed]


async def outdated(
    conn: Connection, applied: Sequence[AppliedChunking], defaults: ChunkingDefaults
) -> list[AppliedChunking]:
    """Those of `applied` whose source has other settings by now.

    Locks the sources, so the answer holds until the end of the transaction.
    """
    source_ids = [one.source_id for one in applied]
    await conn.execute(_SQL["lock_applications_shared"], {"source_ids": source_ids})
    # A separate statement: its snapshot includes everything committed before we got the locks.
    now = await _all_effective(conn, source_ids, defaults)
    return [one for one in applied if now.get(one.source_id, one.used) != one.used]


async def set_for_sources(
    conn: Connection,
    *,
    application_id: UUID,
    source_ids: Sequence[UUID],
    own: ChunkingOverrides,
    application: ChunkingOverrides,
    defaults: ChunkingDefaults,
) -> None:
    """Store settings for sources, as overrides of their application's, and queue rechunks.

    Missing sources are skipped. The caller holds the application's lock
    (applications.lock_sources).
    """
    values = {"application_id": application_id, "source_ids": list(source_ids)}
    await conn.execute(_SQL["set_overrides"], {**values, "own": Jsonb(own.to_json())})
    settings = defaults.effective(application, own)
    values |= {
        "effective": Jsonb(chunking_json(settings)),
        "leave_out": settings.leave_out_furniture,
    }
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["outdated_sources"], values)
        await _enqueue(conn, application_id, await cur.fetchall())


async def lock_application(conn: Connection, application_id: UUID) -> None:
    """Wait for open transactions that store chunks; block new ones until this one ends.

    To change an application's settings; see docs/locks.md.
    """
    await conn.execute(_SQL["lock_application"], {"application_id": application_id})


async def rechunk_application(
    conn: Connection, application_id: UUID, own: ChunkingOverrides, defaults: ChunkingDefaults
) -> None:
    """Queue a rechunk of every source of an application that has outdated chunks.

    The caller has stored `own` in this transaction, after lock_application.
    """
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["distinct_overrides"], {"application_id": application_id})
        choices = await cur.fetchall()
        wanted = [
            defaults.effective(own, ChunkingOverrides.from_json(choice)) for choice in choices
        ]
        await cur.execute(
            _SQL["outdated_sources_of_application"],
            {
                "application_id": application_id,
                "own": [Jsonb(choice) for choice in choices],
                "effective": [Jsonb(chunking_json(settings)) for settings in wanted],
                "leave_out": [settings.leave_out_furniture for settings in wanted],
            },
        )
        await _enqueue(conn, application_id, await cur.fetchall())


async def rechunk_sources(
    conn: Connection, application_id: UUID, source_ids: Sequence[UUID]
) -> None:
    """Queue a rechunk of these sources."""
    await _enqueue(conn, application_id, source_ids)


async def _enqueue(conn: Connection, application_id: UUID, source_ids: Sequence[UUID]) -> None:
    """Queue one job per source, unless it has one that has not started."""
    if not source_ids:
        return
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["waiting"], {"source_ids": list(source_ids)})
        waiting = set(await cur.fetchall())
    await jobs.enqueue(
        conn,
        [
            NewJob(application_id=application_id, type="rechunk", source_id=id, priority=_PRIORITY)
            for id in source_ids
            if id not in waiting
        ],
    )
