"""One per API process: what a connection asks to follow the events of sources.

A subscriber gets a snapshot of each source and the events that it missed, and then joins the
source's feed, which all subscribers share. Between the last look at the feed's number and the join
nothing is awaited, so no event falls in between and none comes twice.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from itertools import islice
from typing import Final
from uuid import UUID

from api import live_messages as messages
from api.feeds import Feeds, Subscriber
from api.news import News
from ingest.db import Pool, transaction
from ingest.listen import Listener
from ingest.store import events, progress
from ingest.store.progress import SourceProgress

_JOIN_TOGETHER: Final = 500
_REPLAY_PAGE: Final = 1000


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
        self._newest = newest
        self._feeds = Feeds()
        self._news = News(pool, listener, self._feeds, poll=poll)

    def start(self) -> None:
        self._news.start()

    async def close(self) -> None:
        await self._news.close()

    async def subscribe(
        self, subscriber: Subscriber, ids: Collection[UUID], after: Mapping[UUID, int]
    ) -> None:
        """Send snapshots of sources, their events later than `after`, and from then on all news.

        A source that is subscribed already is left alone, unless `after` names it: then it starts
        again from there. Raises Closed.
        """
        subscriber.muted.difference_update(ids)
        for id in after.keys() & subscriber.positions.keys():
            self._feeds.leave(subscriber, id)
        remaining = iter(ids)
        while part := list(islice(remaining, _JOIN_TOGETHER)):
            wanted = [id for id in part if id not in subscriber.positions]
            subscriber.joining.update(wanted)
            try:
                await self._join(subscriber, wanted, after)
            finally:
                subscriber.joining.difference_update(wanted)

    async def follow(self, subscriber: Subscriber, after: Mapping[UUID, int]) -> None:
        """As `subscribe`, for all sources of the application and those to come.

        Sources that had ended before the `newest` are sent once they have news. Raises Closed.
        """
        async with transaction(self._pool) as conn:
            since = await progress.settled_before(conn)
        # Those in `after` must not be introduced as news before their replay.
        subscriber.joining.update(after)
        self._feeds.follow(subscriber, since=since)
        async with transaction(self._pool) as conn:
            shown = await progress.worth_showing(
                conn,
                application_id=subscriber.application_id,
                limit=messages.LARGEST_SUBSCRIPTION,
                newest=self._newest,
            )
        await self.subscribe(subscriber, dict.fromkeys([*after, *shown]), after)

    def unsubscribe(self, subscriber: Subscriber, ids: Collection[UUID]) -> None:
        subscriber.chosen.difference_update(ids)
        for id in ids:
            self._feeds.leave(subscriber, id)
        if subscriber.follows:
            subscriber.muted.update(ids)

    def unsubscribe_all(self, subscriber: Subscriber) -> None:
        self._feeds.unfollow(subscriber)
        self.unsubscribe(subscriber, tuple(subscriber.positions))

    def drop(self, subscriber: Subscriber) -> None:
        """Deliver nothing more: the connection has ended."""
        self._feeds.drop(subscriber)

    async def _join(
        self, subscriber: Subscriber, ids: Sequence[UUID], after: Mapping[UUID, int]
    ) -> None:
        async with transaction(self._pool) as conn:
            sources = {
                source.id: source
                for source in await progress.of_sources(
                    conn, application_id=subscriber.application_id, ids=ids
                )
            }
        positions = {}
        for id in ids:
            source = sources.get(id)
            if source is None:
                await subscriber.mailbox.put(messages.not_found(id))
                continue
            positions[id] = _start(source, after.get(id))
            await subscriber.mailbox.put(messages.snapshot(source, seq=positions[id]))
        newest = {id: sources[id].event_seq for id in positions}
        await self._catch_up(subscriber, positions, newest)

    async def _catch_up(
        self, subscriber: Subscriber, positions: dict[UUID, int], newest: dict[UUID, int]
    ) -> None:
        """Replay each source until it is where its feed is, and join the feed right then."""
        while True:
            for id in tuple(positions):
                feed = self._feeds.get(id)
                if feed is not None:
                    newest[id] = max(newest[id], feed.seq)
                if positions[id] >= newest[id]:
                    self._enter(subscriber, id, positions.pop(id))
            if not positions:
                return
            async with transaction(self._pool) as conn:
                page = await events.after(conn, positions, limit=_REPLAY_PAGE)
            for event in page:
                await subscriber.mailbox.put(messages.of_event(event))
                positions[event.source_id] = event.seq
            if len(page) < _REPLAY_PAGE:
                # All that there was has been sent; a number still missing is no longer kept.
                for id in positions:
                    positions[id] = max(positions[id], newest[id])

    def _enter(self, subscriber: Subscriber, source_id: UUID, position: int) -> None:
        is_new = self._feeds.get(source_id) is None
        feed = self._feeds.open(source_id, application_id=subscriber.application_id, seq=position)
        self._feeds.join(subscriber, feed, position=position)
        if is_new:
            # Notifications since the last query were ignored: nobody watched.
            self._news.hear(feed.application_id, source_id)


def _start(source: SourceProgress, after: int | None) -> int:
    """After which event a subscriber begins: within what was numbered and is still kept."""
    if after is None:
        return source.event_seq
    return max(min(after, source.event_seq), source.oldest_position)
