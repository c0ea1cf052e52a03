"""Wait until a run of a page or site has ended, and show how far it is."""

import time
from collections.abc import Callable, Mapping
from itertools import count as numbers
from typing import Any, Final

from api.cli.client import Client
from api.cli.common import progress_bar
from api.cli.follow import ENDED
from api.cli.output import count, notes
from api.cli.waiting import PatientClient

# Without a terminal, a line now and then.
_POLLS_PER_LINE: Final = 20


def wait_for(
    client: Client, source_id: str, *, sleep: Callable[[float], None] = time.sleep
) -> None:
    """Poll the source until nothing more happens to it without a person."""
    service = PatientClient(client, sleep=sleep)
    console = notes()
    told = ""
    with progress_bar("pending", None) as (bar, task):
        for poll in numbers(1):
            counts = service.get(f"/api/knowledge-source/{source_id}/progress")
            if counts["status"] in ENDED:
                return
            words, percent = how_far(counts), counts["percent"]
            total = None if percent is None else 100
            bar.update(task, description=words, completed=percent, total=total)
            if not console.is_terminal and poll % _POLLS_PER_LINE == 0 and words != told:
                console.print(words)
                told = words
            service.pause()


def how_far(counts: Mapping[str, Any]) -> str:
    """The state of a run in words. Its root job, which ends last, is no page."""
    pages = counts["total"] - 1
    if pages < 1:
        return str(counts["status"])
    done = f"{count(pages, 'page')} found · {counts['completed']:,} done"
    return done + (f" · {counts['failed']:,} failed" if counts["failed"] else "")
