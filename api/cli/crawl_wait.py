"""Wait until a run of a page or site has ended, and show how far it is."""

import time
from collections.abc import Callable, Mapping
from itertools import count as numbers
from typing import Any, Final

from api.cli.client import Client
from api.cli.common import progress_bar
from api.cli.crawl_report import Run
from api.cli.follow import ENDED
from api.cli.output import count, notes
from api.cli.waiting import PatientClient

# Without a terminal, a line now and then.
_POLLS_PER_LINE: Final = 20


def wait_for(client: Client, run: Run, *, sleep: Callable[[float], None] = time.sleep) -> None:
    """Poll the source of a run until nothing more happens to it without a person."""
    service = PatientClient(client, sleep=sleep)
    console = notes()
    told = ""
    with progress_bar("pending", None) as (bar, task):
        for poll in numbers(1):
            counts = service.get(f"/api/knowledge-source/{run.source_id}/progress")
            if counts["status"] in ENDED:
                return
            percent = counts["percent"]
            total = None if percent is None else 100
            words = pages_in_words(counts) or begin_in_words(service.get(f"/api/jobs/{run.job_id}"))
            bar.update(task, description=words, completed=percent, total=total)
            if not console.is_terminal and poll % _POLLS_PER_LINE == 0 and words != told:
                console.print(words)
                told = words
            service.pause()


def pages_in_words(counts: Mapping[str, Any]) -> str:
    """How far a site is; empty before any page is found. Its root job, which ends last, is none."""
    pages = counts["total"] - 1
    if pages < 1:
        return ""
    done = f"{count(pages, 'page')} found · {counts['completed']:,} done"
    return done + (f" · {counts['failed']:,} failed" if counts["failed"] else "")


def begin_in_words(job: Mapping[str, Any]) -> str:
    """The state of a page, or of a site of which nothing is known yet, and what it waits for."""
    reason = job["waitReason"] or job["lastErrorMessage"]
    is_waiting = job["status"] == "pending" and reason
    return f"waiting: {reason}" if is_waiting else str(job["status"])
