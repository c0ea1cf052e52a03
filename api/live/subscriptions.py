"""Which subscriber gets which event: the synchronous part of the hub, so each change is atomic.

A feed is a source that has subscribers; `feed.seq` is the last event that was broadcast. A
subscriber joins a feed once it has all events up to there. From then on each broadcast gives it
the events after its own position, so it sees every number once and in order.
"""

import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from api.live.client_queue import ClientQueue, Message


@dataclass(eq=False, slots=True, kw_only=True)
class Subscriber:
    """One connection."""

    application_id: UUID
    queue: ClientQueue = field(default_factory=ClientQueue)
    positions: dict[UUID, int] = field(default_factory=dict)
    """Per joined feed: the last event that was put into the queue or skipped."""
    joining: set[UUID] = field(default_factory=set)
    """Feeds to join when the running replay ends."""
    subscribed_ids: set[UUID] = field(default_factory=set)
    """Sources subscribed to by id, as opposed to `all`."""
    muted: set[UUID] = field(default_factory=set)
    """Sources that were unsubscribed while the client follows `all`."""
    follows: bool = False
    """Whether the client subscribed to `all` sources of the application."""

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
    last_event_at: float = field(default_factory=time.monotonic)


@dataclass(eq=False, slots=True, kw_only=True)
class ApplicationFollowers:
    """The subscribers to all sources of one application."""

    since: datetime
    """By the database's clock; earlier changes are not delivered as new events."""
    followers: set[Subscriber] = field(default_factory=set)


class Feeds:
    """All feeds of a process, and the followers of whole applications."""

    def __init__(self) -> None:
        self._feeds: dict[UUID, Feed] = {}
        self._following: dict[UUID, ApplicationFollowers] = {}

    def get(self, source_id: UUID) -> Feed | None:
        return self._feeds.get(source_id)

    def has_subscribers(self, application_id: UUID, source_id: UUID) -> bool:
        """Whether this source has subscribers, by id or through its application."""
        return source_id in self._feeds or application_id in self._following

    def open(self, source_id: UUID, *, application_id: UUID, seq: int) -> Feed:
        """The feed of a source; a new one starts after `seq`."""
        feed = self._feeds.get(source_id)
        if feed is None:
            feed = Feed(source_id=source_id, application_id=application_id, seq=seq)
            self._feeds[source_id] = feed
        return feed

    def join(self, subscriber: Subscriber, feed: Feed, *, position: int) -> None:
        """From now on, deliver events after `position`, which is not before `feed.seq`."""
        subscriber.joining.discard(feed.source_id)
        if not subscriber.queue.is_closed:
            subscriber.positions[feed.source_id] = position
            feed.subscribers.add(subscriber)

    def leave(self, subscriber: Subscriber, source_id: UUID) -> None:
        subscriber.positions.pop(source_id, None)
        feed = self._feeds.get(source_id)
        if feed is not None:
            feed.subscribers.discard(subscriber)
            self.close_if_unwatched(feed)

    def follow(self, subscriber: Subscriber, *, since: datetime) -> None:
        """Also deliver all other sources of the application, from `since` on."""
        subscriber.follows = True
        following = self._following.setdefault(
            subscriber.application_id, ApplicationFollowers(since=since)
        )
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
        """Close the queue and end all subscriptions."""
        subscriber.queue.close()
        self.unfollow(subscriber)
        for source_id in tuple(subscriber.positions):
            self.leave(subscriber, source_id)

    def followers_without(self, application_id: UUID, source_id: UUID) -> list[Subscriber]:
        """Followers of the application that have not yet received this source."""
        following = self._following.get(application_id)
        if following is None:
            return []
        return [follower for follower in following.followers if follower.lacks(source_id)]

    def broadcast(self, feed: Feed, message: Message) -> None:
        """Give an event of the feed to every subscriber that does not have it."""
        if message.seq is None or message.seq <= feed.seq:
            return
        feed.seq = message.seq
        feed.last_event_at = time.monotonic()
        for subscriber in tuple(feed.subscribers):
            if message.seq > subscriber.positions[feed.source_id]:
                subscriber.positions[feed.source_id] = message.seq
                self.offer(subscriber, message)

    def offer(self, subscriber: Subscriber, message: Message) -> None:
        """Send without waiting; drop a subscriber that cannot keep up."""
        if not subscriber.queue.offer(message):
            self.drop(subscriber)

    def unfollowed(self) -> list[Feed]:
        """Feeds of applications that have no followers."""
        return [feed for feed in self._feeds.values() if feed.application_id not in self._following]

    def followed_applications(self) -> dict[UUID, datetime]:
        """Applications that have followers, and since when."""
        return {id: following.since for id, following in self._following.items()}

    def close_idle(self, idle: timedelta) -> None:
        """Close feeds that were not subscribed by id and had no event for `idle`.

        Followers receive such a source again when it has a new event.
        """
        before = time.monotonic() - idle.total_seconds()
        for feed in [feed for feed in self._feeds.values() if feed.last_event_at < before]:
            if not any(feed.source_id in watcher.subscribed_ids for watcher in feed.subscribers):
                self.close(feed.source_id)

    def close(self, source_id: UUID) -> tuple[Subscriber, ...]:
        """Remove a feed; returns its subscribers."""
        feed = self._feeds.pop(source_id, None)
        if feed is None:
            return ()
        for subscriber in feed.subscribers:
            del subscriber.positions[source_id]
        return tuple(feed.subscribers)

    def close_if_unwatched(self, feed: Feed) -> None:
        if not feed.subscribers:
            self._feeds.pop(feed.source_id, None)
