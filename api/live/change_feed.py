"""Learns that sources have news, reads it once, and broadcasts it to all subscribers.

A notification marks a source as dirty. A few milliseconds later one query reads the new events of
all dirty sources that have subscribers. Each event is serialised once, however many sockets get it.
Notifications are only hints: event numbers are also compared every few seconds, and whenever the
listener reconnects.
"""

import asyncio
import random
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

import psycopg
import structlog

from api.live import messages
from api.live.subscriptions import Feed, Feeds
from ingest.asynchronous.tasks import end, is_set_within
from ingest.postgres.database import Connection, Pool, transaction
from ingest.postgres.listen import Listener
from ingest.store.sources import events, progress
from ingest.store.sources.events import Event
from ingest.store.sources.progress import SourceProgress

log = structlog.get_logger()

_DEBOUNCE_SECONDS: Final = 0.01
_RETRY_SECONDS: Final = 1.0
_PAGE: Final = 5000
# Events broadcast before the event loop runs other tasks.
_WITHOUT_PAUSE: Final = 50

# A change carries the start time of its transaction; it may become visible this much later.
_LONGEST_TRANSACTION: Final = timedelta(minutes=1)
# A source without a feed starts with its events of this period. Feeds are closed only after a
# longer idle time, so events that were delivered from them are never delivered again.
_HORIZON: Final = timedelta(minutes=15)
_IDLE: Final = timedelta(minutes=30)


class News:
    """Keeps feeds up to date between `start` and `close`."""

    def __init__(self, pool: Pool, listener: Listener, feeds: Feeds, *, poll: timedelta) -> None:
        self._pool = pool
        self._feeds = feeds
        self._poll_seconds = poll.total_seconds()
        self._dirty: dict[UUID, UUID] = {}
        self._has_news = asyncio.Event()
        self._look_now = asyncio.Event()
        self._looked_at = time.monotonic()
        self._tasks: list[asyncio.Task[None]] = []
        listener.subscribe("rag_events", self._notified)
        listener.on_reconnect(self._look_now.set)

    def start(self) -> None:
        self._tasks = [
            asyncio.create_task(self._deliver_forever(), name="news-deliver"),
            asyncio.create_task(self._look_forever(), name="news-look"),
        ]

    async def close(self) -> None:
        await end(*self._tasks)

    def hear(self, application_id: UUID, source_id: UUID) -> None:
        """Mark a source as dirty; ignored when it has no subscribers."""
        if self._feeds.concerns(application_id, source_id):
            self._dirty[source_id] = application_id
            self._has_news.set()

    def _notified(self, payload: str) -> None:
        application_id, source_ids = events.parse_notification(payload)
        for source_id in source_ids:
            self.hear(application_id, source_id)

    # ------------------------------------------------------------------ polling

    async def _look_forever(self) -> None:
        while True:
            pause = self._poll_seconds * random.uniform(0.5, 1.5)  # noqa: S311
            await is_set_within(self._look_now, pause)
            self._look_now.clear()
            try:
                await self._look()
            except Exception as error:
                _report("news.look_failed", error)

    async def _look(self) -> None:
        began = time.monotonic()
        named, followed = self._feeds.named(), self._feeds.followed()
        if not (named or followed):
            self._looked_at = began
            return
        within = _LONGEST_TRANSACTION + self._unseen()
        async with transaction(self._pool) as conn:
            current = await progress.positions(conn, [feed.source_id for feed in named])
            changed = await progress.recently_changed(conn, followed, within=within)
        self._looked_at = began
        for feed in named:
            seq = current.get(feed.source_id)
            if seq is None:
                self._purged(feed.source_id)
            elif seq > feed.seq:
                self.hear(feed.application_id, feed.source_id)
        for id, application_id, seq in changed:
            known = self._feeds.get(id)
            if known is None or seq > known.seq:
                self.hear(application_id, id)
        self._feeds.forget(_IDLE)

    def _unseen(self) -> timedelta:
        """The time since the last poll of the database."""
        return timedelta(seconds=time.monotonic() - self._looked_at)

    def _purged(self, source_id: UUID) -> None:
        for subscriber in self._feeds.close(source_id):
            self._feeds.offer(subscriber, messages.not_found(source_id))

    # ------------------------------------------------------------------ delivery

    async def _deliver_forever(self) -> None:
        while True:
            await self._has_news.wait()
            await asyncio.sleep(_DEBOUNCE_SECONDS)
            self._has_news.clear()
            heard, self._dirty = self._dirty, {}
            try:
                await self._deliver(heard)
            except Exception as error:
                _report("news.deliver_failed", error)
                self._dirty = {**heard, **self._dirty}
                self._has_news.set()
                await asyncio.sleep(_RETRY_SECONDS)

    async def _deliver(self, heard: Mapping[UUID, UUID]) -> None:
        to_introduce = {id for id, owner in heard.items() if self._feeds.lacking(owner, id)}
        async with transaction(self._pool) as conn:
            after = await self._positions(conn, heard)
            states = await _states(conn, {id: heard[id] for id in to_introduce})
            page = await events.after(conn, after, limit=_PAGE)
        # Nothing is awaited until the broadcast: no subscriber joins or leaves in between.
        late = {id for id, seq in after.items() if not self._is_ready(id, seq)}
        late |= {id for id in after if self._feeds.lacking(heard[id], id)} - to_introduce
        for id in after.keys() - late:
            self._introduce(heard[id], id, after[id], states.get(id))
        feeds = {id: feed for id in after.keys() - late if (feed := self._feeds.get(id))}
        if len(page) == _PAGE:
            late.update(id for id in after if id >= page[-1].source_id)
        for id in late:
            self.hear(heard[id], id)
        await self._broadcast(page, feeds)

    async def _positions(self, conn: Connection, heard: Mapping[UUID, UUID]) -> dict[UUID, int]:
        """The event after which to read each source: as broadcast, or the start of a new source."""
        known = {id: feed.seq for id in heard if (feed := self._feeds.get(id))}
        followed = self._feeds.followed()
        new = {id: owner for id, owner in heard.items() if id not in known and owner in followed}
        if not new:
            return known
        horizon = _HORIZON + self._unseen()
        return known | await progress.replay_starts(conn, new, followed=followed, horizon=horizon)

    def _is_ready(self, source_id: UUID, read_after: int) -> bool:
        """False if the feed was closed and reopened further back during the query."""
        feed = self._feeds.get(source_id)
        return feed is None or feed.seq >= read_after

    def _introduce(
        self, application_id: UUID, source_id: UUID, seq: int, state: SourceProgress | None
    ) -> None:
        """Let followers that lack the source join its feed; open the feed if need be."""
        lacking = self._feeds.lacking(application_id, source_id)
        if not lacking or state is None:
            return
        feed = self._feeds.open(source_id, application_id=application_id, seq=seq)
        snapshot = messages.snapshot(state, seq=feed.seq)
        for follower in lacking:
            self._feeds.offer(follower, snapshot)
            self._feeds.join(follower, feed, position=feed.seq)
        self._feeds.close_if_unwatched(feed)

    async def _broadcast(self, page: Sequence[Event], feeds: Mapping[UUID, Feed]) -> None:
        for n, event in enumerate(page):
            feed = feeds.get(event.source_id)
            # A feed that was closed and reopened meanwhile reads its own events.
            if feed is not None and self._feeds.get(event.source_id) is feed:
                self._feeds.broadcast(feed, messages.of_event(event))
            if n % _WITHOUT_PAUSE == 0:
                await asyncio.sleep(0)


async def _states(conn: Connection, ids: Mapping[UUID, UUID]) -> dict[UUID, SourceProgress]:
    by_application: defaultdict[UUID, list[UUID]] = defaultdict(list)
    for id, application_id in ids.items():
        by_application[application_id].append(id)
    return {
        source.id: source
        for application_id, members in by_application.items()
        for source in await progress.of_sources(conn, application_id=application_id, ids=members)
    }


def _report(event: str, error: Exception) -> None:
    """Log an error, which never ends a loop; only database errors are expected."""
    if isinstance(error, psycopg.Error | OSError):
        log.warning(event, error=type(error).__name__)
    else:
        log.error(event, exc_info=error)
