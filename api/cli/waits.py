"""What is waited for when nothing goes on, in a line: `waiting: 1 file for budget_exceeded …`."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from api.cli.client import Client, Refused, Unreachable
from api.cli.output import count

QUIET_SECONDS: Final = 10
"""For so long nothing has to happen before anybody asks."""

# More need not be counted to be understood.
_MOST: Final = 200
# What a reason is in words, where it is not one to wait *for*.
_WORDS: Final = {None: "a free worker", "paused": "the end of a pause"}

Job = Mapping[str, Any]


class Waits:
    """Looks up why the open jobs of some batches or sources do not go on."""

    def __init__(self, client: Client, queries: Sequence[Mapping[str, str]]) -> None:
        """`queries`: filters of GET /api/jobs, one for each batch or source."""
        self._client = client
        self._queries = queries
        self._known: set[str] = set()
        self.is_news = False
        """Whether the last look has seen other reasons than the one before."""

    def look(self) -> str:
        """The line; empty if nothing waits, or the service does not say."""
        self.is_news = False
        try:
            jobs = [job for query in self._queries for job in self._pending(query)]
        except (Refused, Unreachable):
            # Whoever follows the files meets the same, and tells it.
            return ""
        reasons = {_reason(job) for job in jobs}
        self.is_news = bool(reasons) and reasons != self._known
        self._known = reasons or self._known
        return in_words(jobs)

    def _pending(self, query: Mapping[str, str]) -> list[Job]:
        jobs: list[Job] = self._client.get("/api/jobs", status="pending", limit=_MOST, **query)[
            "items"
        ]
        return jobs


def in_words(jobs: Iterable[Job]) -> str:
    """The reasons of these jobs, the most frequent first, each with the time when it may end."""
    by_reason: dict[str, list[Job]] = {}
    for job in jobs:
        by_reason.setdefault(_reason(job), []).append(job)
    parts = [
        _part(reason, by_reason[reason])
        for reason in sorted(by_reason, key=lambda reason: -len(by_reason[reason]))
    ]
    return f"waiting: {' · '.join(parts)}" if parts else ""


def _part(reason: str, jobs: Sequence[Job]) -> str:
    noun = "file" if all(job["type"] in ("file", "member") for job in jobs) else "job"
    words = f"{'at least ' * (len(jobs) >= _MOST)}{count(len(jobs), noun)} for {reason}"
    times = [datetime.fromisoformat(job["runAt"]) for job in jobs if job["runAt"] is not None]
    if not times:
        return words
    return f"{words} until {min(times).astimezone(UTC):%Y-%m-%dT%H:%MZ}"


def _reason(job: Job) -> str:
    reason = job["waitReason"]
    return str(_WORDS.get(reason, reason))
