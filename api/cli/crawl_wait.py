"""Wait until a run of a page or site has ended, and show its progress."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from api.cli.client import Client
from api.cli.common import progress_bar
from api.cli.crawl_report import Run
from api.cli.follow import ENDED
from api.cli.output import count, notes
from api.cli.telling import Pace, duration, joined, rate, told
from api.cli.waiting import PatientClient
from api.cli.waits import reason_of


class Progress:
    """The progress of a run, as of the last poll, in words."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._pace = Pace(clock)
        self._words = "pending"
        self._left: int | None = None

    def seen(self, words: str, counts: Mapping[str, Any]) -> None:
        """Record what the service answers now."""
        self._words, self._left = words, counts.get("etaSeconds")
        self._pace.note(counts["completed"] + counts["failed"])

    def words(self) -> str:
        """With the rate and the time left, if known."""
        left = duration(self._left) + " left" if self._left else None
        return joined(self._words, rate(self._pace.per_second, "pages"), left)


def wait_for(client: Client, run: Run, *, sleep: Callable[[float], None] = time.sleep) -> None:
    """Poll the source of a run until nothing more happens to it without a person."""
    service = PatientClient(client, sleep=sleep)
    progress = Progress()
    with told(notes(), progress.words), progress_bar("pending", None) as (bar, task):
        while True:
            counts = service.get(f"/api/knowledge-source/{run.source_id}/progress")
            if counts["status"] in ENDED:
                return
            percent = counts["percent"]
            total = None if percent is None else 100
            words = pages_in_words(counts) or begin_in_words(service.get(f"/api/jobs/{run.job_id}"))
            progress.seen(words, counts)
            bar.update(task, description=words, completed=percent, total=total)
            service.pause()


def pages_in_words(counts: Mapping[str, Any]) -> str:
    """The progress of a site; empty before pages are found, when only its root job is counted."""
    pages = counts["total"]
    if pages < 2:
        return ""
    return joined(
        f"{count(pages, 'page')} found",
        f"{counts['completed']:,} done",
        f"{counts['failed']:,} failed" if counts["failed"] else None,
        f"{counts['processing']:,} in work" if counts.get("processing") else None,
    )


def begin_in_words(job: Mapping[str, Any]) -> str:
    """The state of a page, or of a site without known pages, and what it waits for."""
    reason = reason_of(job) if job["waitReason"] else job["lastErrorMessage"]
    is_waiting = job["status"] == "pending" and reason
    return f"waiting: {reason}" if is_waiting else str(job["status"])
