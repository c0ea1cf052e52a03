"""What the stand-in of Firecrawl does with one crawl: a plan in time, drawn from a seed."""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from random import Random
from typing import Any, Literal
from urllib.parse import urlsplit
from uuid import UUID

from tests.servers.firecrawl_behaviour import Behaviour, Site, SitePage
from tests.servers.firecrawl_events import CANCELLED, RACED, document, event, stub

Fate = Literal["page", "failed", "raced"]


@dataclass(frozen=True, kw_only=True)
class PageJob:
    """A page that the crawl has queued."""

    url: str
    page: SitePage
    fate: Fate
    at: float
    """When it is scraped, in seconds from the start."""
    scrape_id: str

    def document(self) -> dict[str, Any]:
        return document(
            self.page.redirects_to or self.url,
            self.page.markdown,
            source_url=self.url,
            scrape_id=self.scrape_id,
            status=self.page.status,
            links=self.page.links,
            **({"title": self.page.title} if self.page.title else {}),
        )


@dataclass(frozen=True, kw_only=True)
class Planned:
    """An event that will be sent `at` seconds after the start, if it is still true then."""

    at: float
    type: str
    body: bytes
    job: PageJob | None = None


@dataclass(kw_only=True)
class Crawl:
    """One crawl: what was asked for, what it has scraped by now, and what it will send."""

    id: str
    request: Mapping[str, Any]
    site: Site
    behaviour: Behaviour
    cancelled: float | None = None
    """When it was, in seconds from the start."""
    reads: int = 0
    began: float = field(init=False)
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __post_init__(self) -> None:
        self.began = time.monotonic()
        self._rng = Random(self.behaviour.seed)
        self.jobs = [] if self.behaviour.kickoff_fails else self._queue()

    @property
    def url(self) -> str:
        return str(self.request["url"])

    @property
    def webhook_url(self) -> str | None:
        webhook = self.request.get("webhook")
        return webhook["url"] if isinstance(webhook, dict) else webhook

    @property
    def run(self) -> dict[str, str]:
        """What the request gave as `webhook.metadata`."""
        webhook = self.request.get("webhook")
        return dict(webhook.get("metadata", {})) if isinstance(webhook, dict) else {}

    @property
    def age(self) -> float:
        return time.monotonic() - self.began

    @property
    def state(self) -> str:
        if self.behaviour.kickoff_fails:
            return "failed"
        if self.cancelled is not None:
            return "cancelled"
        is_open = self.behaviour.stuck or self.age < self.end
        return "scraping" if is_open else "completed"

    @cached_property
    def end(self) -> float:
        """When the last page is scraped."""
        return max((job.at for job in self.jobs), default=0)

    def scraped(self) -> list[PageJob]:
        """What is done by now, in order of its end."""
        until = self.age if self.cancelled is None else self.cancelled
        return sorted((job for job in self.jobs if job.at <= until), key=lambda job: job.at)

    def documents(self) -> list[dict[str, Any]]:
        return [job.document() for job in self.scraped() if job.fate == "page"]

    def errors(self) -> dict[str, Any]:
        """As GET …/errors has it: without lost races."""
        failed = [job for job in self.scraped() if job.fate == "failed"]
        errors = [{"id": job.scrape_id, "url": job.url, "error": job.page.error} for job in failed]
        if self.cancelled is not None:
            done = {job.url for job in self.scraped()}
            stubs = [job for job in self.jobs if job.url not in done]
            errors += [{"id": job.scrape_id, "url": job.url, "error": CANCELLED} for job in stubs]
        blocked = [url for url, page in self.site.items() if page.blocked]
        return {"errors": errors, "robotsBlocked": blocked}

    def plan(self) -> list[Planned]:
        """All events that it will send, unless it is cancelled."""
        if self.behaviour.silent or self.behaviour.kickoff_fails:
            return []
        planned = [self._event("started", self._delay()), *self._page_events()]
        if self.jobs and not self.behaviour.stuck:
            planned.append(self._event("completed", self.end + self._completed_delay()))
        return self._with_losses(planned)

    def cancel(self) -> list[Planned]:
        """Stop it: stubs for the pages that were still to come, and then `completed`."""
        self.cancelled = self.age
        if self.behaviour.silent:
            return []
        done = {job.url for job in self.scraped()}
        stubs = [
            self._event("page", 0, data=[stub(job.url)], error=CANCELLED)
            for job in self.jobs
            if job.url not in done
        ]
        return [*stubs, self._event("completed", 0)]

    def is_still_true(self, planned: Planned) -> bool:
        """Whether an event of `plan` is to be sent although the crawl may have been cancelled."""
        if self.cancelled is None:
            return True
        if planned.job is None:
            return planned.type == "started"
        return planned.job.at <= self.cancelled

    def _queue(self) -> list[PageJob]:
        chosen = self._within_the_limit()
        urls = {url for url, _, _ in chosen}
        jobs = []
        for url, page, fate in chosen:
            lost = page.redirects_to in urls and fate == "page"
            jobs.append(
                PageJob(
                    url=url,
                    page=page,
                    fate="raced" if lost else fate,
                    at=self._rng.uniform(0, len(chosen) * self.behaviour.page_seconds),
                    scrape_id=str(self._uuid()),
                )
            )
        return jobs

    def _within_the_limit(self) -> list[tuple[str, SitePage, Fate]]:
        """Failed pages free their slot."""
        chosen: list[tuple[str, SitePage, Fate]] = []
        slots = self.request.get("limit", 10_000)
        for url, page in self.site.items():
            if page.blocked or not self._is_wanted(urlsplit(url).path):
                continue
            if slots == 0:
                break
            fate: Fate = "failed" if page.error else "page"
            slots -= fate == "page"
            chosen.append((url, page, fate))
        return chosen

    def _is_wanted(self, path: str) -> bool:
        def matches(patterns: Sequence[str]) -> bool:
            return any(re.search(pattern, path) for pattern in patterns)

        include, exclude = (self.request.get(key, []) for key in ("includePaths", "excludePaths"))
        return (not include or matches(include)) and not matches(exclude)

    def _page_events(self) -> list[Planned]:
        events = []
        for job in self.jobs:
            if self.behaviour.failures_silent and job.fate == "failed":
                continue
            at = job.at + self._delay()
            if self.behaviour.completed_first:
                at = self.end + 0.1 + self._delay()
            if self._rng.random() < self.behaviour.late:
                at = self.end + self.behaviour.late_seconds
            events.append(self._page_event(job, at))
            if self._rng.random() < self.behaviour.rerun:
                events.append(self._page_event(job, at + self._delay()))
        return events

    def _page_event(self, job: PageJob, at: float) -> Planned:
        if job.fate == "page":
            return self._event("page", at, data=[job.document()], job=job)
        error = RACED if job.fate == "raced" else job.page.error
        return self._event("page", at, data=[stub(job.url)], error=error, job=job)

    def _event(
        self,
        kind: str,
        at: float,
        *,
        data: Sequence[Any] = (),
        error: str | None = None,
        job: PageJob | None = None,
    ) -> Planned:
        type = f"crawl.{kind}"
        body = event(
            type, id=self.id, data=data, error=error, run=self.run, webhook_id=self._uuid()
        )
        return Planned(at=at, type=kind, body=body, job=job)

    def _with_losses(self, planned: Sequence[Planned]) -> list[Planned]:
        sent = []
        for item in planned:
            if self._rng.random() < self.behaviour.duplicate:
                again = item.at + self._delay()
                sent.append(Planned(at=again, type=item.type, body=item.body, job=item.job))
            sent.append(item)
        return [item for item in sent if self._rng.random() >= self.behaviour.drop]

    def _completed_delay(self) -> float:
        return 0 if self.behaviour.completed_first else self._delay()

    def _delay(self) -> float:
        return self._rng.uniform(0, self.behaviour.event_seconds)

    def _uuid(self) -> UUID:
        return UUID(int=self._rng.getrandbits(128), version=4)
