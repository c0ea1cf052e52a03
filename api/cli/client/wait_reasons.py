"""What open jobs do and wait for: `8 running (6 embed, 2 extract) · 20 waiting`."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from api.cli.client.http_client import Client, ServiceError, Unreachable
from api.cli.output import count, join_parts

QUIET_SECONDS: Final = 10
"""How long nothing must happen before the commands ask for the reason."""

_FREE_WORKER: Final = "a free worker"
# Reasons whose code does not fit after "waiting for".
_REASON_TEXTS: Final = {
    None: _FREE_WORKER,
    "paused": "the end of a pause",
    "provider_paused": "a provider that the operator has paused",
}

# For these wait reasons the error is shown too.
_FAILURES: Final = ("provider_unavailable", "rate_limited", "retry")
_MAX_ERROR_CHARACTERS: Final = 250

JobGroup = Mapping[str, Any]
"""Jobs in the same state, as returned by GET /api/jobs/counts."""


class WaitReasons:
    """Looks up what the open jobs of batches or sources do, or why they wait."""

    def __init__(self, client: Client, queries: Sequence[Mapping[str, str]]) -> None:
        """`queries`: filters of GET /api/jobs/counts, one for each batch or source."""
        self._client = client
        self._queries = queries
        self._known: set[str] = set()
        self.has_changed = False
        """Whether the last `waiting()` found new reasons, other than the lack of a free worker."""

    def waiting(self) -> str:
        """The reasons for waiting, in a line; empty if nothing waits or the request fails."""
        self.has_changed = False
        waiting = [group for group in self._groups() if group["status"] == "pending"]
        reasons = {wait_reason(group) for group in waiting}
        self.has_changed = bool(reasons - {_FREE_WORKER}) and reasons != self._known
        self._known = reasons or self._known
        return waiting_line(waiting)

    def open_jobs(self) -> str:
        """What the jobs do and wait for; empty if none is open or the request fails."""
        found = self._groups()
        running = Counter[str]()
        for group in found:
            if group["status"] == "processing":
                running[group["stage"] or "starting"] += group["count"]
        waiting = _by_reason(group for group in found if group["status"] == "pending")
        return join_parts(
            _running(running),
            *(
                f"{_total(groups):,} waiting"
                + (f" for {reason}{_until(groups)}" if reason != _FREE_WORKER else "")
                for reason, groups in waiting
            ),
        )

    def _groups(self) -> list[JobGroup]:
        try:
            return [
                group
                for query in self._queries
                for group in self._client.get("/api/jobs/counts", **query)["items"]
            ]
        except (ServiceError, Unreachable):
            # The request for progress gets the same error and reports it.
            return []


def waiting_line(waiting: Iterable[JobGroup]) -> str:
    """The reasons of these jobs, most frequent first, each with the time when it may end."""
    parts = [_count(reason, groups) for reason, groups in _by_reason(waiting)]
    return f"waiting: {join_parts(*parts)}" if parts else ""


def _by_reason(groups: Iterable[JobGroup]) -> list[tuple[str, list[JobGroup]]]:
    found: dict[str, list[JobGroup]] = {}
    for group in groups:
        found.setdefault(wait_reason(group), []).append(group)
    return sorted(found.items(), key=lambda item: -_total(item[1]))


def _count(reason: str, groups: Sequence[JobGroup]) -> str:
    noun = "file" if all(group["type"] in ("file", "member") for group in groups) else "job"
    return f"{count(_total(groups), noun)} for {reason}{_until(groups)}"


def _until(groups: Sequence[JobGroup]) -> str:
    # An operator ends a pause; until then, `until` is when the worker looks again.
    times = [
        datetime.fromisoformat(group["until"])
        for group in groups
        if group["until"] and group["waitReason"] != "provider_paused"
    ]
    return f" until {min(times).astimezone(UTC):%Y-%m-%dT%H:%MZ}" if times else ""


def _running(stages: Counter[str]) -> str:
    if not stages:
        return ""
    named = ", ".join(f"{number:,} {stage}" for stage, number in stages.most_common())
    return f"{stages.total():,} running ({named})"


def _total(groups: Iterable[JobGroup]) -> int:
    return sum(group["count"] for group in groups)


def wait_reason(state: Mapping[str, Any]) -> str:
    """What a job or a group of jobs waits for and, after a failure, its error."""
    reason = state["waitReason"]
    text = str(_REASON_TEXTS.get(reason, reason))
    code = state.get("lastErrorCode")
    if reason not in _FAILURES or code is None:
        return text
    return f"{text} ({code}: {(state.get('lastErrorMessage') or '')[:_MAX_ERROR_CHARACTERS]})"
