"""Wait until a run of a page or site has ended, and show its progress."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from api.cli.client.event_follower import ENDED
from api.cli.client.http_client import Client
from api.cli.client.polling import PollingClient
from api.cli.client.wait_reasons import wait_reason
from api.cli.output import count, join_parts, notes
from api.cli.progress import RateMeter, duration, progress_bar, progress_log, rate_text


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlRun:
    """The fetch of a page, or the crawl of a site."""

    source_id: str
    job_id: str
    crawl_id: str

    @classmethod
    def accepted(cls, answer: Mapping[str, Any]) -> Self:
        """The run in the response to a request that starts one."""
        return cls(
            source_id=answer["knowledgeSourceId"],
            job_id=answer["jobId"],
            crawl_id=answer["crawlId"],
        )

    @classmethod
    def latest(cls, client: Client, source_id: str) -> Self:
        """The latest run of a page or site."""
        crawl = next(client.pages(f"/api/knowledge-sources/{source_id}/crawls", limit=1))
        return cls(source_id=source_id, job_id=crawl["jobId"], crawl_id=crawl["id"])

    def as_json(self) -> dict[str, Any]:
        return {
            "knowledgeSourceId": self.source_id,
            "jobId": self.job_id,
            "crawlId": self.crawl_id,
        }


class CrawlProgress:
    """The progress of a run as of the last poll, as a log line."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._meter = RateMeter(clock)
        self._state = "pending"
        self._seconds_left: int | None = None

    def record(self, state: str, counts: Mapping[str, Any]) -> None:
        """Record the state and counts that the service returned."""
        self._state, self._seconds_left = state, counts.get("etaSeconds")
        self._meter.record(counts["completed"] + counts["failed"])

    def line(self) -> str:
        """The progress as one line, with the rate and the time left if known."""
        left = duration(self._seconds_left) + " left" if self._seconds_left else None
        return join_parts(self._state, rate_text(self._meter.per_second, "pages"), left)


def wait_for_run(
    client: Client, run: CrawlRun, *, sleep: Callable[[float], None] = time.sleep
) -> None:
    """Poll the source of a run until nothing more happens to it without a person."""
    service = PollingClient(client, sleep=sleep)
    progress = CrawlProgress()
    with progress_log(notes(), progress.line), progress_bar("pending", None) as (bar, task):
        while True:
            counts = service.get(f"/api/knowledge-source/{run.source_id}/progress")
            if counts["status"] in ENDED:
                return
            percent = counts["percent"]
            total = None if percent is None else 100
            state = pages_line(counts) or job_line(service.get(f"/api/jobs/{run.job_id}"))
            progress.record(state, counts)
            bar.update(task, description=state, completed=percent, total=total)
            service.pause()


def pages_line(counts: Mapping[str, Any]) -> str:
    """The progress of a site; empty before pages are found, when only its root job is counted."""
    pages = counts["total"]
    if pages < 2:
        return ""
    return join_parts(
        f"{count(pages, 'page')} found",
        f"{counts['completed']:,} done",
        f"{counts['failed']:,} failed" if counts["failed"] else None,
        f"{counts['processing']:,} running" if counts.get("processing") else None,
    )


def job_line(job: Mapping[str, Any]) -> str:
    """The state of a page, or of a site without known pages, and what it waits for."""
    reason = wait_reason(job) if job["waitReason"] else job["lastErrorMessage"]
    is_waiting = job["status"] == "pending" and reason
    return f"waiting: {reason}" if is_waiting else str(job["status"])
