"""What open jobs do and wait for, in words: `8 in work (6 embed, 2 extract) · 20 waiting`."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from api.cli.client import Client, Refused, Unreachable
from api.cli.output import count
from api.cli.telling import joined

QUIET_SECONDS: Final = 10
"""How long nothing must happen before the commands ask why."""

# Reasons whose name does not fit after "waiting for".
_WORDS: Final = {None: "a free worker", "paused": "the end of a pause"}
_FREE_WORKER: Final = _WORDS[None]

# For these reasons the error is shown too.
_FAILURES: Final = ("provider_unavailable", "rate_limited", "retry")
_LONGEST_CAUSE: Final = 250

Group = Mapping[str, Any]
"""Jobs in the same state, as returned by GET /api/jobs/counts."""


class Waits:
    """Looks up what the open jobs of batches or sources do, or why they wait."""

    def __init__(self, client: Client, queries: Sequence[Mapping[str, str]]) -> None:
        """`queries`: filters of GET /api/jobs/counts, one for each batch or source."""
        self._client = client
        self._queries = queries
        self._known: set[str] = set()
        self.is_news = False
        """Whether the last look found new reasons, other than the lack of a free worker."""

    def look(self) -> str:
        """The reasons for waiting, in a line; empty if nothing waits or the request fails."""
        self.is_news = False
        waiting = [group for group in self._groups() if group["status"] == "pending"]
        reasons = {reason_of(group) for group in waiting}
        self.is_news = bool(reasons - {_FREE_WORKER}) and reasons != self._known
        self._known = reasons or self._known
        return in_words(waiting)

    def state(self) -> str:
        """What the jobs do and wait for; empty if none is open or the request fails."""
        groups = self._groups()
        running = Counter[str]()
        for group in groups:
            if group["status"] == "processing":
                running[group["stage"] or "begun"] += group["count"]
        waiting = _by_reason(group for group in groups if group["status"] == "pending")
        return joined(
            _running(running),
            *(
                f"{_sum(its):,} waiting"
                + (f" for {reason}{_until(its)}" if reason != _FREE_WORKER else "")
                for reason, its in waiting
            ),
        )

    def _groups(self) -> list[Group]:
        try:
            return [
                group
                for query in self._queries
                for group in self._client.get("/api/jobs/counts", **query)["items"]
            ]
        except (Refused, Unreachable):
            # The code that follows the files gets the same error and reports it.
            return []


def in_words(waiting: Iterable[Group]) -> str:
    """The reasons of these jobs, most frequent first, each with the time when it may end."""
    parts = [_part(reason, its) for reason, its in _by_reason(waiting)]
    return f"waiting: {joined(*parts)}" if parts else ""


def _by_reason(groups: Iterable[Group]) -> list[tuple[str, list[Group]]]:
    found: dict[str, list[Group]] = {}
    for group in groups:
        found.setdefault(reason_of(group), []).append(group)
    return sorted(found.items(), key=lambda item: -_sum(item[1]))


def _part(reason: str, groups: Sequence[Group]) -> str:
    noun = "file" if all(group["type"] in ("file", "member") for group in groups) else "job"
    return f"{count(_sum(groups), noun)} for {reason}{_until(groups)}"


def _until(groups: Sequence[Group]) -> str:
    times = [datetime.fromisoformat(group["until"]) for group in groups if group["until"]]
    return f" until {min(times).astimezone(UTC):%Y-%m-%dT%H:%MZ}" if times else ""


def _running(stages: Counter[str]) -> str:
    if not stages:
        return ""
    named = ", ".join(f"{number:,} {stage}" for stage, number in stages.most_common())
    return f"{stages.total():,} in work ({named})"


def _sum(groups: Iterable[Group]) -> int:
    return sum(group["count"] for group in groups)


def reason_of(state: Mapping[str, Any]) -> str:
    """What a job or a group of jobs waits for and, after a failure, its error."""
    reason = state["waitReason"]
    words = str(_WORDS.get(reason, reason))
    code = state.get("lastErrorCode")
    if reason not in _FAILURES or code is None:
        return words
    return f"{words} ({code}: {(state.get('lastErrorMessage') or '')[:_LONGEST_CAUSE]})"
