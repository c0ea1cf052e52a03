"""What befalls a crawl of the stand-in of Firecrawl, and the pages of made-up sites."""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Self


@dataclass(frozen=True, kw_only=True)
class SitePage:
    """One page of a made-up site."""

    markdown: str = "# A page"
    title: str | None = None
    status: int = 200
    links: tuple[str, ...] = ()
    error: str | None = None
    """Scraping it fails, with these words."""
    blocked: bool = False
    """By robots.txt."""
    redirects_to: str | None = None
    """If that is a page of the site, the two race, and this one loses."""


Site = Mapping[str, SitePage]
"""Pages by address, in the order in which the crawl would find them."""


@dataclass(frozen=True, kw_only=True)
class Behaviour:
    """What befalls one crawl and its events; as it stands, nothing does. Times are in seconds."""

    seed: int = 0
    refused_starts: int = 0
    """So many starts get HTTP 429 first."""
    start_seconds: float = 0
    """From the beginning of the crawl to the answer to its start: events can be earlier."""
    lost_start: bool = False
    """The crawl starts, and the connection is closed without an answer."""
    kickoff_fails: bool = False
    unknown_reads: int = 0
    """So many reads of the crawl get HTTP 404 first."""
    page_seconds: float = 0.005
    """Mean time per page."""
    event_seconds: float = 0
    """An event is delayed by up to this, so events overtake each other."""
    drop: float = 0
    """Share of deliveries that are never made."""
    duplicate: float = 0
    """Share of events that come again with the same webhookId."""
    rerun: float = 0
    """Share of page events that come again as new ones, with a new webhookId."""
    silent: bool = False
    """There is no event at all."""
    completed_first: bool = False
    """`completed` comes before any page."""
    late: float = 0
    """Share of page events that come `late_seconds` after the end of the crawl."""
    late_seconds: float = 0
    failures_silent: bool = False
    """Failed pages are in /errors only."""
    stuck: bool = False
    """All pages are scraped, but the crawl never ends."""
    cancelled_at: float | None = None
    """Somebody cancels it when this share of its time has passed."""
    part: int = 100
    """Documents per read."""

    @classmethod
    def random(cls, seed: int) -> Self:
        """Some mixture of troubles. A start whose answer is lost can be found by its events."""
        rng = Random(seed)

        def happens(share: float) -> bool:
            return rng.random() < share

        lost = happens(0.1)
        return cls(
            seed=seed,
            refused_starts=rng.choice((0, 0, 0, 0, 1)),
            start_seconds=rng.choice((0, 0, 0.05, 0.3)),
            lost_start=lost,
            kickoff_fails=not lost and happens(0.04),
            unknown_reads=rng.choice((0, 0, 0, 1, 2)),
            page_seconds=rng.choice((0.001, 0.01, 0.03)),
            event_seconds=rng.choice((0, 0.05, 0.3)),
            drop=0 if lost else rng.choice((0, 0, 0.1, 0.5)),
            duplicate=rng.choice((0, 0.2, 1)),
            rerun=rng.choice((0, 0.2, 1)),
            silent=not lost and happens(0.06),
            completed_first=happens(0.15),
            late=rng.choice((0, 0, 0.3)),
            late_seconds=rng.choice((0.2, 1)),
            failures_silent=happens(0.3),
            stuck=happens(0.04),
            cancelled_at=rng.random() if happens(0.06) else None,
            part=rng.choice((100, 100, 3, 7)),
        )

    @property
    def ends_whole(self) -> bool:
        """Whether all pages of the site can be had in the end, and it is known that they are."""
        return not (self.kickoff_fails or self.stuck or self.cancelled_at is not None)
