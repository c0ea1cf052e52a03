"""One hub per API process: connections subscribe to the events of sources here.

Clients that subscribe at the same time share snapshots (snapshots.py). A subscriber gets the
snapshot of each source and the events that it missed, then joins the feed of the source, which all
subscribers share. Nothing is awaited between the last look at the feed's number and the join, so
no event is lost in between and none is sent twice.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from itertools import islice
from typing import Final
from uuid import UUID

from api.live import messages
from api.live.change_feed import ChangeFeed
from api.live.snapshots import SnapshotLoader, SourceSnapshot
from api.live.subscriptions import Feeds, Subscriber
from ingest.postgres.database import Pool, transaction
from ingest.postgres.listen import Listener
from ingest.store.sources import events
from ingest.store.sources.progress import SourceProgress

_JOIN_BATCH: Final = 500
_REPLAY_PAGE: Final = 1000
# Over all subscribers. The rest wait here, because waiting for a connection would time out.
_MAX_CONCURRENT_REPLAYS: Final = 4


class Hub:
    """Delivers events to subscribers between `start` and `close`."""

    def __init__(
        self,
        pool: Pool,
        listener: Listener,
        *,
        poll: timedelta = timedelta(seconds=3),
        newest: int = 1000,
    ) -> None:
        self._pool = pool
        self.snapshots = SnapshotLoader(pool, newest=newest)
        self._replays = asyncio.Semaphore(_MAX_CONCURRENT_REPLAYS)
        self._feeds = Feeds()
        self._changes = ChangeFeed(pool, listener, self._feeds, poll=poll)

    def start(self) -> None:
        self._changes.start()

    async def close(self) -> None:
        await self._changes.close()

    async def subscribe(
        self,
        subscriber: Subscriber,
        ids: Collection[UUID],
        after: Mapping[UUID, int],
        *,
        known: Mapping[UUID, SourceSnapshot] | None = None,
    ) -> None:
        """Send snapshots of sources, their events later than `after`, then every new event.

        A source that is already subscribed is skipped, unless `after` names it: then it restarts
        from there. `known`: states already read for this subscriber. Raises QueueClosed.
        """
        subscriber.muted.difference_update(ids)
        for id in after.keys() & subscriber.positions.keys():
            self._feeds.leave(subscriber, id)
        remaining = iter(ids)
        while part := list(islice(remaining, _JOIN_BATCH)):
            wanted = [id for id in part if id not in subscriber.positions]
            subscriber.joining.update(wanted)
            try:
                await self._join(subscriber, wanted, after, known or {})
            finally:
                subscriber.joining.difference_update(wanted)

    async def follow(self, subscriber: Subscriber, after: Mapping[UUID, int]) -> None:
        """Like `subscribe`, for all present and future sources of the application.

        Finished sources beyond the `newest` are sent with their next event. Raises QueueClosed.
        """
        since = await self.snapshots.settled_before()
        # A new event must not add a source in `after` to its feed before the replay of that source.
        subscriber.joining.update(after)
        self._feeds.follow(subscriber, since=since)
        shown = await self.snapshots.shown_first(subscriber.application_id)
        ids = dict.fromkeys([*after, *shown])
        await self.subscribe(subscriber, ids, after, known=shown)

    def unsubscribe(self, subscriber: Subscriber, ids: Collection[UUID]) -> None:
        subscriber.subscribed_ids.difference_update(ids)
        for id in ids:
            self._feeds.leave(subscriber, id)
        if subscriber.follows:
            subscriber.muted.update(ids)

    def unsubscribe_all(self, subscriber: Subscriber) -> None:
        self._feeds.unfollow(subscriber)
        self.unsubscribe(subscriber, tuple(subscriber.positions))

    def drop(self, subscriber: Subscriber) -> None:
        """Remove a subscriber whose connection has ended."""
        self._feeds.drop(subscriber)

    async def _join(
        self,
        subscriber: Subscriber,
        ids: Sequence[UUID],
        after: Mapping[UUID, int],
        known: Mapping[UUID, SourceSnapshot],
    ) -> None:
        states = {id: state for id in ids if (state := known.get(id))}
        unknown = [id for id in ids if id not in states]
        if unknown:
            states |= await self.snapshots.of_sources(subscriber.application_id, unknown)
        positions = {}
        for id in ids:
            state = states.get(id)
            if state is None:
                await subscriber.queue.put(messages.not_found(id))
                continue
            positions[id] = seq = _start_position(state.source, after.get(id))
            is_newest = seq == state.source.event_seq
            await subscriber.queue.put(
                state.message if is_newest else messages.snapshot(state.source, seq=seq)
            )
        newest = {id: states[id].source.event_seq for id in positions}
        await self._catch_up(subscriber, positions, newest)

    async def _catch_up(
        self, subscriber: Subscriber, positions: dict[UUID, int], newest: dict[UUID, int]
    ) -> None:
        """Replay each source until it has caught up with its feed, and join the feed right then."""
        while True:
            for id in tuple(positions):
                feed = self._feeds.get(id)
                if feed is not None:
                    newest[id] = max(newest[id], feed.seq)
                if positions[id] >= newest[id]:
                    self._join_feed(subscriber, id, positions.pop(id))
            if not positions:
                return
            async with self._replays, transaction(self._pool) as conn:
                page = await events.after(conn, positions, limit=_REPLAY_PAGE)
            for event in page:
                await subscriber.queue.put(messages.of_event(event))
                positions[event.source_id] = event.seq
            if len(page) < _REPLAY_PAGE:
                # That was the last page. Events still missing have been deleted: count them as
                # sent.
                for id in positions:
                    positions[id] = max(positions[id], newest[id])

    def _join_feed(self, subscriber: Subscriber, source_id: UUID, position: int) -> None:
        is_new = self._feeds.get(source_id) is None
        feed = self._feeds.open(source_id, application_id=subscriber.application_id, seq=position)
        self._feeds.join(subscriber, feed, position=position)
        if is_new:
            # Notifications since the last query were ignored because the source had no subscriber.
            self._changes.mark_dirty(feed.application_id, source_id)


def _start_position(source: SourceProgress, after: int | None) -> int:
    """The event after which a subscriber begins: clamped to the numbers that are still stored."""
    if after is None:
        return source.event_seq
    return max(min(after, source.event_seq), source.oldest_position)
