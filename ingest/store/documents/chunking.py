"""How documents are cut: what a source, its application and the installation say about it.

Whoever changes settings queues a job for each source that is cut otherwise now; whoever stores a
document asks in the same transaction whether the settings have moved since it was cut. Both take
the locks that are named here, so that of two at the same time one sees what the other has done.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self, cast, get_args
from uuid import UUID

from psycopg.rows import scalar_row
from psycopg.types.json import Jsonb

from ingest.model import ChunkBy, ChunkSettings
from ingest.postgres.database import Connection, load_queries
from ingest.store.documents.documents import chunking_json
from ingest.store.lenient_json import positive_integer
from ingest.store.queue import jobs
from ingest.store.queue.jobs import NewJob

_SQL = load_queries("documents/chunking.sql")

SMALLEST_CHUNK: Final = 32
"""Tokens."""
# Background: what is stored is searchable meanwhile.
_PRIORITY: Final = -10


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnChunking:
    """What an application or a source has set for itself; None: as whoever it belongs to."""

    size: int | None = None
    overlap: int | None = None
    by: ChunkBy | None = None

    @classmethod
    def from_json(cls, stored: Any) -> Self:
        """As it is stored, without what was written wrongly by hand."""
        given = stored if isinstance(stored, dict) else {}
        size, by = positive_integer(given.get("size")), given.get("by")
        return cls(
            size=None if size is None else max(size, SMALLEST_CHUNK),
            overlap=0 if given.get("overlap") == 0 else positive_integer(given.get("overlap")),
            by=cast(ChunkBy, by) if by in get_args(ChunkBy) else None,
        )

    def to_json(self) -> dict[str, Any]:
        """Without what is not set."""
        fields = {"size": self.size, "overlap": self.overlap, "by": self.by}
        return {name: value for name, value in fields.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """What holds where nobody has set anything else."""

    chunking: ChunkSettings
    largest: int
    """Tokens that the embedding model reads; no chunk is larger."""

    def effective(self, *choices: OwnChunking) -> ChunkSettings:
        """The settings that follow, of later choices before earlier ones.

        An overlap that was set beside another size is cut to half of the size.
        """
        settings = self.chunking
        for own in choices:
            settings = replace(settings, **own.to_json())
        size = min(settings.size, self.largest)
        return replace(settings, size=size, overlap=min(settings.overlap, size // 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """By which settings something of a source was cut."""

    application_id: UUID
    source_id: UUID
    used: ChunkSettings


async def effective(conn: Connection, source_id: UUID, usual: Installation) -> ChunkSettings:
    """How documents of a source are cut; as is usual for one that does not exist."""
    return (await _all_effective(conn, [source_id], usual)).get(source_id) or usual.effective()


async def _all_effective(
    conn: Connection, source_ids: Sequence[UUID], usual: Installation
) -> dict[UUID, ChunkSettings]:
    cursor = await conn.execute(_SQL["layers"], {"source_ids": list(source_ids)})
    return {id: of_layers(usual, *layers) for id, *layers in await cursor.fetchall()}


def of_layers(usual: Installation, application: Any, own: Any) -> ChunkSettings:
    """How documents of a source are cut, by what is stored with its application and itself."""
    return usual.effective(OwnChunking.from_json(application), OwnChunking.from_json(own))


async def must_rechunk(conn: Connection, cuts: Sequence[Cut], *, usual: Installation) -> list[UUID]:
    """Queue what cuts sources again whose settings are no longer those that were used; which.

    For the transaction that stores what was cut by them. Locks the sources.
    """
    moved = await have_moved(conn, cuts, usual)
    for application_id in dict.fromkeys(cut.application_id for cut in moved):
        own = [cut.source_id for cut in moved if cut.application_id == application_id]
        await _enqueue(conn, application_id, own)
    return [cut.source_id for cut in moved]


async def have_moved(conn: Connection, cuts: Sequence[Cut], usual: Installation) -> list[Cut]:
    """Those whose source's settings are no longer those that were used.

    The answer holds until the end of the transaction. Locks the sources.
    """
    source_ids = [cut.source_id for cut in cuts]
    await conn.execute(_SQL["share_applications"], {"source_ids": source_ids})
    # In a statement of its own, which sees all that was committed before the locks were ours.
    now = await _all_effective(conn, source_ids, usual)
    return [cut for cut in cuts if now.get(cut.source_id, cut.used) != cut.used]


async def set_of_sources(
    conn: Connection,
    *,
    application_id: UUID,
    source_ids: Sequence[UUID],
    own: OwnChunking,
    application: OwnChunking,
    usual: Installation,
) -> None:
    """Give sources settings of their own, within those of their application; have them cut again.

    Those that are not there are passed over. The caller holds the application's lock
    (applications.lock_sources).
    """
    values = {"application_id": application_id, "source_ids": list(source_ids)}
    await conn.execute(_SQL["set_own"], {**values, "own": Jsonb(own.to_json())})
    settings = chunking_json(usual.effective(application, own))
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["cut_otherwise"], {**values, "effective": Jsonb(settings)})
        await _enqueue(conn, application_id, await cur.fetchall())


async def lock_application(conn: Connection, application_id: UUID) -> None:
    """Wait for what is just being stored, and let nothing more be stored in this transaction.

    For a change of the application's settings: after applications.lock_sources, before any row.
    """
    await conn.execute(_SQL["lock_application"], {"application_id": application_id})


async def rechunk_application(
    conn: Connection, application_id: UUID, own: OwnChunking, usual: Installation
) -> None:
    """Have all sources of an application cut again that are cut otherwise than it says now.

    `own` was written in this transaction, after lock_application.
    """
    async with conn.cursor(row_factory=scalar_row) as cur:
        await cur.execute(_SQL["own_choices"], {"application_id": application_id})
        choices = await cur.fetchall()
        wanted = [usual.effective(own, OwnChunking.from_json(choice)) for choice in choices]
        await cur.execute(
            _SQL["all_cut_otherwise"],
            {
                "application_id": application_id,
                "own": [Jsonb(choice) for choice in choices],
                "effective": [Jsonb(chunking_json(settings)) for settings in wanted],
            },
        )
        await _enqueue(conn, application_id, await cur.fetchall())


async def _enqueue(conn: Connection, application_id: UUID, source_ids: Sequence[UUID]) -> None:
    """One job for each, but for those that have one which has not begun."""
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
