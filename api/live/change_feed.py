"""Learns which sources have new events, reads these once, and broadcasts them to all subscribers.

A notification marks a source as dirty. A few milliseconds later one query reads the new events of
all dirty sources that have subscribers. Each event is serialised once, however many sockets get it.
Notifications are only hints: event numbers are also compared every few seconds, several times a
second while the listener hears none, and whenever it reconnects.
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
from ingest.asynchronous.tasks import cancel_all, is_set_within
from ingest.postgres.database import Connection, Pool, transaction
from ingest.postgres.listen import Listener
from ingest.store.sources import events, progress
from ingest.store.sources.events import Event
from ingest.store.sources.progress import SourceProgress

log = structlog.get_logger()

_DEBOUNCE_SECONDS: Final = 0.01
_RETRY_SECONDS: Final = 1.0
# Between polls while no notifications arrive. Without subscribers, a poll asks nothing.
_NOT_LISTENING_SECONDS: Final = 0.5
_MAX_EVENTS: Final = 5000
# Events broadcast before the event loop runs other tasks.
_EVENTS_PER_YIELD: Final = 50

# A change carries the start time of its transaction; it may become visible this much later.
_LONGEST_TRANSACTION: Final = timedelta(minutes=1)
# A source without a feed starts with its events of this period. Feeds are closed only after a
# longer idle time, so events that were delivered from them are never delivered again.
_HORIZON: Final = timedelta(minutes=15)
_IDLE: Final = timedelta(minutes=30)


class ChangeFeed:
    """Keeps feeds up to date between `start` and `close`."""

    def __init__(self, pool: Pool, listener: Listener, feeds: Feeds, *, poll: timedelta) -> None:
        self._pool = pool
        self._feeds = feeds
        self._listener = listener
        self._poll_seconds = poll.total_seconds()
        self._dirty: dict[UUID, UUID] = {}
        self._has_changes = asyncio.Event()
        self._poll_now = asyncio.Event()
        self._polled_at = time.monotonic()
        self._tasks: list[asyncio.Task[None]] = []
        listener.subscribe("rag_events", self._notified)
        listener.on_reconnect(self._poll_now.set)

    def start(self) -> None:
        self._tasks = [
            asyncio.create_task(self._deliver_forever(), name="live-deliver"),
            asyncio.create_task(self._poll_forever(), name="live-poll"),
        ]

    async def close(self) -> None:
        await cancel_all(*self._tasks)

    def mark_dirty(self, application_id: UUID, source_id: UUID) -> None:
        """Mark a source as dirty; ignored when it has no subscribers."""
        if self._feeds.has_subscribers(application_id, source_id):
            self._dirty[source_id] = application_id
            self._has_changes.set()

    def _notified(self, payload: str) -> None:
        application_id, source_ids = events.parse_notification(payload)
        for source_id in source_ids:
            self.mark_dirty(application_id, source_id)

    # ------------------------------------------------------------------ polling

    async def _poll_forever(self) -> None:
        while True:
            seconds = self._poll_seconds
            if not self._listener.is_connected:
                seconds = min(seconds, _NOT_LISTENING_SECONDS)
            pause = seconds * random.uniform(0.5, 1.5)  # noqa: S311
            await is_set_within(self._poll_now, pause)
            self._poll_now.clear()
            try:
                await self._poll()
            except Exception as error:
                _log_error("live.poll_failed", error)

    async def _poll(self) -> None:
        began = time.monotonic()
        unfollowed, followed = self._feeds.unfollowed(), self._feeds.followed_applications()
        if not (unfollowed or followed):
            self._polled_at = began
            return
        within = _LONGEST_TRANSACTION + self._since_poll()
        async with transaction(self._pool) as conn:
            current = await progress.positions(conn, [feed.source_id for feed in unfollowed])
            changed = await progress.recently_changed(conn, followed, within=within)
        self._polled_at = began
        for feed in unfollowed:
            seq = current.get(feed.source_id)
            if seq is None:
                self._report_purged(feed.source_id)
            elif seq > feed.seq:
                self.mark_dirty(feed.application_id, feed.source_id)
        for id, application_id, seq in changed:
            known = self._feeds.get(id)
            if known is None or seq > known.seq:
                self.mark_dirty(application_id, id)
        self._feeds.close_idle(_IDLE)

    def _since_poll(self) -> timedelta:
        """The time since the last poll of the database."""
        return timedelta(seconds=time.monotonic() - self._polled_at)

    def _report_purged(self, source_id: UUID) -> None:
        for subscriber in self._feeds.close(source_id):
            self._feeds.offer(subscriber, messages.not_found(source_id))

    # ------------------------------------------------------------------ delivery

    async def _deliver_forever(self) -> None:
        while True:
            await self._has_changes.wait()
            await asyncio.sleep(_DEBOUNCE_SECONDS)
            self._has_changes.clear()
            dirty, self._dirty = self._dirty, {}
            try:
                await self._deliver(dirty)
            except Exception as error:
                _log_error("live.delivery_failed", error)
                self._dirty = {**dirty, **self._dirty}
                self._has_changes.set()
                await asyncio.sleep(_RETRY_SECONDS)

    async def _deliver(self, dirty: Mapping[UUID, UUID]) -> None:
        new_to_followers = {
            id for id, owner in dirty.items() if self._feeds.followers_without(owner, id)
        }
        async with transaction(self._pool) as conn:
            after = await self._positions(conn, dirty)
            states = await _states(conn, {id: dirty[id] for id in new_to_followers})
            page = await events.after(conn, after, limit=_MAX_EVENTS)
        # Nothing is awaited until the broadcast, so no subscriber joins or leaves in between.
        late = {id for id, seq in after.items() if not self._is_ready(id, seq)}
        late |= {
            id for id in after if self._feeds.followers_without(dirty[id], id)
        } - new_to_followers
        for id in after.keys() - late:
            self._send_snapshots(dirty[id], id, after[id], states.get(id))
        feeds = {id: feed for id in after.keys() - late if (feed := self._feeds.get(id))}
        if len(page) == _MAX_EVENTS:
            late.update(id for id in after if id >= page[-1].source_id)
        for id in late:
            self.mark_dirty(dirty[id], id)
        await self._broadcast(page, feeds)

    async def _positions(self, conn: Connection, dirty: Mapping[UUID, UUID]) -> dict[UUID, int]:
        """The event after which to read each source: as broadcast, or the start of a new source."""
        known = {id: feed.seq for id in dirty if (feed := self._feeds.get(id))}
        followed = self._feeds.followed_applications()
        new = {id: owner for id, owner in dirty.items() if id not in known and owner in followed}
        if not new:
            return known
        horizon = _HORIZON + self._since_poll()
        return known | await progress.replay_starts(conn, new, followed=followed, horizon=horizon)

    def _is_ready(self, source_id: UUID, read_after: int) -> bool:
        """False if the feed was closed and reopened further back during the query."""
        feed = self._feeds.get(source_id)
        return feed is None or feed.seq >= read_after

    def _send_snapshots(
        self, application_id: UUID, source_id: UUID, seq: int, state: SourceProgress | None
    ) -> None:
        """Let followers that lack the source join its feed; open the feed if need be."""
        followers_without = self._feeds.followers_without(application_id, source_id)
        if not followers_without or state is None:
            return
        feed = self._feeds.open(source_id, application_id=application_id, seq=seq)
        snapshot = messages.snapshot(state, seq=feed.seq)
        for follower in followers_without:
            self._feeds.offer(follower, snapshot)
            self._feeds.join(follower, feed, position=feed.seq)
        self._feeds.close_if_unwatched(feed)

    async def _broadcast(self, page: Sequence[Event], feeds: Mapping[UUID, Feed]) -> None:
        for n, event in enumerate(page):
            feed = feeds.get(event.source_id)
            # A feed that was closed and reopened meanwhile reads its own events.
            if feed is not None and self._feeds.get(event.source_id) is feed:
                self._feeds.broadcast(feed, messages.of_event(event))
            if n % _EVENTS_PER_YIELD == 0:
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


def _log_error(event: str, error: Exception) -> None:
    """Log an error, which never ends a loop; only database errors are expected."""
    if isinstance(error, psycopg.Error | OSError):
        log.warning(event, error=type(error).__name__)
    else:
        log.error(event, exc_info=error)
