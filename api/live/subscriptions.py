"""Who gets what: the part of the hub that never waits, so that each change is seen whole.

A feed is a source that somebody watches; `feed.seq` is the last event that was broadcast. A
subscriber joins a feed once it has everything up to there. From then on each broadcast hands it
the events after its own position, so it sees every number once and in order.
"""

import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from api.live.client_queue import Mailbox, Message


@dataclass(eq=False, slots=True, kw_only=True)
class Subscriber:
    """One connection."""

    application_id: UUID
    mailbox: Mailbox = field(default_factory=Mailbox)
    positions: dict[UUID, int] = field(default_factory=dict)
    """Per joined feed: the last event that went into the mailbox, or that was skipped."""
    joining: set[UUID] = field(default_factory=set)
    """Feeds to be joined after a replay that is under way."""
    chosen: set[UUID] = field(default_factory=set)
    """Sources that were named, as opposed to `all`."""
    muted: set[UUID] = field(default_factory=set)
    """Sources that were unsubscribed although `all` are followed."""
    follows: bool = False
    """Whether sources that nobody named are delivered too."""

    def lacks(self, source_id: UUID) -> bool:
        return not (
            source_id in self.positions or source_id in self.joining or source_id in self.muted
        )


@dataclass(eq=False, slots=True, kw_only=True)
class Feed:
    source_id: UUID
    application_id: UUID
    seq: int
    subscribers: set[Subscriber] = field(default_factory=set)
    moved_at: float = field(default_factory=time.monotonic)


@dataclass(eq=False, slots=True, kw_only=True)
class Following:
    """Those who follow one application as a whole."""

    since: datetime
    """By the database's clock; what happened before is no news to them."""
    followers: set[Subscriber] = field(default_factory=set)


class Feeds:
    """All feeds of a process, and the followers of whole applications."""

    def __init__(self) -> None:
        self._feeds: dict[UUID, Feed] = {}
        self._following: dict[UUID, Following] = {}

    def get(self, source_id: UUID) -> Feed | None:
        return self._feeds.get(source_id)

    def concerns(self, application_id: UUID, source_id: UUID) -> bool:
        """Whether anybody wants to hear of this source."""
        return source_id in self._feeds or application_id in self._following

    def open(self, source_id: UUID, *, application_id: UUID, seq: int) -> Feed:
        """The feed of a source; a new one starts after `seq`."""
        feed = self._feeds.get(source_id)
        if feed is None:
            feed = Feed(source_id=source_id, application_id=application_id, seq=seq)
            self._feeds[source_id] = feed
        return feed

    def join(self, subscriber: Subscriber, feed: Feed, *, position: int) -> None:
        """Deliver events after `position`, which is not before `feed.seq`, from now on."""
        subscriber.joining.discard(feed.source_id)
        if not subscriber.mailbox.is_closed:
            subscriber.positions[feed.source_id] = position
            feed.subscribers.add(subscriber)

    def leave(self, subscriber: Subscriber, source_id: UUID) -> None:
        subscriber.positions.pop(source_id, None)
        feed = self._feeds.get(source_id)
        if feed is not None:
            feed.subscribers.discard(subscriber)
            self.close_if_unwatched(feed)

    def follow(self, subscriber: Subscriber, *, since: datetime) -> None:
        """Deliver sources of the application that nobody named as well, from `since` on."""
        subscriber.follows = True
        following = self._following.setdefault(subscriber.application_id, Following(since=since))
        following.followers.add(subscriber)

    def unfollow(self, subscriber: Subscriber) -> None:
        subscriber.follows = False
        subscriber.muted.clear()
        following = self._following.get(subscriber.application_id)
        if following is not None:
            following.followers.discard(subscriber)
            if not following.followers:
                del self._following[subscriber.application_id]

    def drop(self, subscriber: Subscriber) -> None:
        """Deliver nothing more to a subscriber."""
        subscriber.mailbox.close()
        self.unfollow(subscriber)
        for source_id in tuple(subscriber.positions):
            self.leave(subscriber, source_id)

    def lacking(self, application_id: UUID, source_id: UUID) -> list[Subscriber]:
        """Followers of the application that have not yet heard of this source."""
        following = self._following.get(application_id)
        if following is None:
            return []
        return [follower for follower in following.followers if follower.lacks(source_id)]

    def broadcast(self, feed: Feed, message: Message) -> None:
        """Give an event of the feed to everybody who does not have it."""
        if message.seq is None or message.seq <= feed.seq:
            return
        feed.seq = message.seq
        feed.moved_at = time.monotonic()
        for subscriber in tuple(feed.subscribers):
            if message.seq > subscriber.positions[feed.source_id]:
                subscriber.positions[feed.source_id] = message.seq
                self.offer(subscriber, message)

    def offer(self, subscriber: Subscriber, message: Message) -> None:
        """Send without waiting; who cannot keep up is dropped."""
        if not subscriber.mailbox.offer(message):
            self.drop(subscriber)

    def named(self) -> list[Feed]:
        """Feeds of applications that nobody follows as a whole."""
        return [feed for feed in self._feeds.values() if feed.application_id not in self._following]

    def followed(self) -> dict[UUID, datetime]:
        """Applications that somebody follows as a whole, and since when."""
        return {id: following.since for id, following in self._following.items()}

    def forget(self, idle: timedelta) -> None:
        """Close feeds that nobody named and that have not moved for `idle`.

        A follower hears of such a source again when it has news.
        """
        before = time.monotonic() - idle.total_seconds()
        for feed in [feed for feed in self._feeds.values() if feed.moved_at < before]:
            if not any(feed.source_id in watcher.chosen for watcher in feed.subscribers):
                self.close(feed.source_id)

    def close(self, source_id: UUID) -> tuple[Subscriber, ...]:
        """End a feed; those who had joined it."""
        feed = self._feeds.pop(source_id, None)
        if feed is None:
            return ()
        for subscriber in feed.subscribers:
            del subscriber.positions[source_id]
        return tuple(feed.subscribers)

    def close_if_unwatched(self, feed: Feed) -> None:
        if not feed.subscribers:
            self._feeds.pop(feed.source_id, None)
