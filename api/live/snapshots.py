"""The states of sources and applications, read once for all callers that ask at the same time.

A caller that asks while a query is running shares the next query with all others that wait. So a
burst of clients costs a few queries and connections, and each client gets data that was read after
it asked: a client that joins the news before it asks misses nothing.
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

_AT_ONCE: Final = 500
_NOW: Final = "now"


@dataclass(frozen=True, slots=True)
class State:
    """A source, with its snapshot message as of its last event."""

    source: SourceProgress
    message: Message

    @classmethod
    def of(cls, source: SourceProgress) -> "State":
        return cls(source, messages.snapshot(source, seq=source.event_seq))


class States:
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

    async def of_sources(self, application_id: UUID, ids: Collection[UUID]) -> Mapping[UUID, State]:
        """Those of `ids` that belong to the application."""
        found = await self._sources.get([(application_id, id) for id in ids])
        return {id: state for id in ids if (state := found.get((application_id, id)))}

    async def worth_showing(self, application_id: UUID) -> Mapping[UUID, State]:
        """All unfinished sources of an application and the newest finished ones, newest first."""
        return (await self._shown.get([application_id])).get(application_id, {})

    async def of_application(self, application_id: UUID) -> ApplicationProgress:
        """Counts over the application's sources."""
        return (await self._applications.get([application_id]))[application_id]

    async def settled_before(self) -> datetime:
        """As progress.visible_before()."""
        return (await self._settled.get([_NOW]))[_NOW]

    async def _load_sources(
        self, keys: Sequence[tuple[UUID, UUID]]
    ) -> Mapping[tuple[UUID, UUID], State]:
        by_application: defaultdict[UUID, list[UUID]] = defaultdict(list)
        for application_id, id in keys:
            by_application[application_id].append(id)
        async with transaction(self._pool) as conn:
            return {
                (application_id, id): state
                for application_id, ids in by_application.items()
                for id, state in (await _states(conn, application_id, ids)).items()
            }

    async def _load_shown(
        self, application_ids: Sequence[UUID]
    ) -> Mapping[UUID, Mapping[UUID, State]]:
        shown = {}
        for application_id in application_ids:
            async with transaction(self._pool) as conn:
                ids = await progress.unfinished_and_newest(
                    conn,
                    application_id=application_id,
                    limit=messages.LARGEST_SUBSCRIPTION,
                    newest=self._newest,
                )
                found = await _states(conn, application_id, ids)
            shown[application_id] = {id: state for id in ids if (state := found.get(id))}
        return shown

    async def _load_applications(self, ids: Sequence[UUID]) -> Mapping[UUID, ApplicationProgress]:
        async with transaction(self._pool) as conn:
            return {id: await progress.of_application(conn, application_id=id) for id in ids}

    async def _load_settled(self, keys: Sequence[str]) -> Mapping[str, datetime]:
        async with transaction(self._pool) as conn:
            time = await progress.visible_before(conn)
        return dict.fromkeys(keys, time)


async def _states(conn: Connection, application_id: UUID, ids: Iterable[UUID]) -> dict[UUID, State]:
    found: dict[UUID, State] = {}
    remaining = iter(ids)
    while part := list(islice(remaining, _AT_ONCE)):
        sources = await progress.of_sources(conn, application_id=application_id, ids=part)
        found |= {source.id: State.of(source) for source in sources}
    return found
