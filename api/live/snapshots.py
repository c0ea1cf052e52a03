"""The states of sources and applications, read once for all callers that ask at the same time.

A caller that asks while a query is running shares the next query with all others that wait. So a
burst of clients costs a few queries and connections, and each client gets data that was read after
it asked: a client that subscribes before it asks misses nothing.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Final
from uuid import UUID

from api.live import messages
from api.live.client_queue import Message
from ingest.postgres.batch_loader import BatchLoader
from ingest.postgres.database import Connection, Pool, is_database_unavailable, transaction
from ingest.store.sources import progress
from ingest.store.sources.progress import ApplicationProgress, SourceProgress

_BATCH: Final = 500
_ONLY_KEY: Final = "now"


@dataclass(frozen=True, slots=True)
class SourceSnapshot:
    """A source, with its snapshot message as of its last event."""

    source: SourceProgress
    message: Message

    @classmethod
    def of(cls, source: SourceProgress) -> "SourceSnapshot":
        return cls(source, messages.snapshot(source, seq=source.event_seq))


class SnapshotLoader:
    """Loads states for all connections of this process."""

    def __init__(self, pool: Pool, *, newest: int) -> None:
        """`newest`: how many finished sources to show."""
        self._pool = pool
        self._newest = newest
        self._sources = BatchLoader(self._load_sources, concerns_all=is_database_unavailable)
        self._shown = BatchLoader(self._load_shown, concerns_all=is_database_unavailable)
        self._applications = BatchLoader(
            self._load_applications, concerns_all=is_database_unavailable
        )
        self._settled = BatchLoader(self._load_settled, concerns_all=is_database_unavailable)

    async def of_sources(
        self, application_id: UUID, ids: Collection[UUID]
    ) -> Mapping[UUID, SourceSnapshot]:
        """Those of `ids` that belong to the application."""
        found = await self._sources.get([(application_id, id) for id in ids])
        return {id: state for id in ids if (state := found.get((application_id, id)))}

    async def shown_first(self, application_id: UUID) -> Mapping[UUID, SourceSnapshot]:
        """All unfinished sources of an application and the newest finished ones, newest first."""
        return (await self._shown.get([application_id])).get(application_id, {})

    async def of_application(self, application_id: UUID) -> ApplicationProgress:
        """Counts over the application's sources."""
        return (await self._applications.get([application_id]))[application_id]

    async def settled_before(self) -> datetime:
        """Like progress.visible_before()."""
        return (await self._settled.get([_ONLY_KEY]))[_ONLY_KEY]

    async def _load_sources(
        self, keys: Sequence[tuple[UUID, UUID]]
    ) -> Mapping[tuple[UUID, UUID], SourceSnapshot]:
        by_application: defaultdict[UUID, list[UUID]] = defaultdict(list)
        for application_id, id in keys:
            by_application[application_id].append(id)
        found: dict[tuple[UUID, UUID], SourceSnapshot] = {}
        for application_id, ids in by_application.items():
            async with transaction(self._pool.of(application_id)) as conn:
                states = await _states(conn, application_id, ids)
            found |= {(application_id, id): state for id, state in states.items()}
        return found

    async def _load_shown(
        self, application_ids: Sequence[UUID]
    ) -> Mapping[UUID, Mapping[UUID, SourceSnapshot]]:
        shown = {}
        for application_id in application_ids:
            async with transaction(self._pool.of(application_id)) as conn:
                ids = await progress.unfinished_and_newest(
                    conn,
                    application_id=application_id,
                    limit=messages.MAX_SUBSCRIPTION,
                    newest=self._newest,
                )
                found = await _states(conn, application_id, ids)
            shown[application_id] = {id: state for id in ids if (state := found.get(id))}
        return shown

    async def _load_applications(self, ids: Sequence[UUID]) -> Mapping[UUID, ApplicationProgress]:
        found = {}
        for id in ids:
            async with transaction(self._pool.of(id)) as conn:
                found[id] = await progress.of_application(conn, application_id=id)
        return found

    async def _load_settled(self, keys: Sequence[str]) -> Mapping[str, datetime]:
        async with transaction(self._pool) as conn:
            time = await progress.visible_before(conn)
        return dict.fromkeys(keys, time)


async def _states(
    conn: Connection, application_id: UUID, ids: Iterable[UUID]
) -> dict[UUID, SourceSnapshot]:
    found: dict[UUID, SourceSnapshot] = {}
    remaining = iter(ids)
    while part := list(islice(remaining, _BATCH)):
        sources = await progress.of_sources(conn, application_id=application_id, ids=part)
        found |= {source.id: SourceSnapshot.of(source) for source in sources}
    return found
