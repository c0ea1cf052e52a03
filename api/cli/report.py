"""Wait until the files of an upload have ended, and report the outcome."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import count as numbers
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from api.cli.client import Client, Refused
from api.cli.files import Skipped
from api.cli.output import count, plain
from api.cli.sending import Outcome, Problem
from api.cli.waiting import POLL_SECONDS, PatientClient
from api.cli.waits import QUIET_SECONDS, Waits

_OPEN: Final = ("pending", "processing")
_FINE: Final = "completed"
_SHOWN: Final = 50
_QUIET_POLLS: Final = round(QUIET_SECONDS / POLL_SECONDS)


@dataclass(slots=True, kw_only=True)
class Result:
    """Everything that the command reports at its end."""

    outcome: Outcome
    states: Counter[str] = field(default_factory=Counter)
    """Number of sources per state, of files that were accepted or still in progress."""
    problems: list[Problem] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    @property
    def has_failures(self) -> bool:
        """Whether a file that should be searchable is not."""
        missed = any(file.is_failure for file in self.skipped)
        return missed or any(file.status in ("rejected", "failed") for file in self.problems)

    def as_json(self) -> dict[str, Any]:
        verdicts = self.outcome.verdicts
        names = ("accepted", "unchanged", "duplicate", "rejected")
        return {
            "batchId": self.outcome.batch_id,
            "total": verdicts.total(),
            "sent": self.outcome.sent,
            **{name: verdicts[name] for name in names},
            "states": dict(self.states),
            "problems": [asdict(file) for file in self.problems],
            "skipped": [{"path": file.path, "reason": file.reason} for file in self.skipped],
        }


class Waiter:
    """Polls the batches that contain the files of an upload."""

    def __init__(
        self, client: Client, outcome: Outcome, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._client = client
        self._service = PatientClient(client, sleep=sleep)
        self._outcome = outcome
        self._batches = [outcome.batch_id] if outcome.batch_id else []
        self._waits = Waits(client, [])
        self.states = Counter[str]()
        """Number of accepted files per state, as of the last poll."""

    def wait(
        self,
        show: Callable[[int, int], None],
        *,
        tell: Callable[[str, bool], None] = lambda *_: None,
    ) -> None:
        """Wait until no file is pending or processing; `show` gets the ended and the total count.

        While no file ends, `tell` is called from time to time with what the files wait for and
        whether that is news, and with an empty text when they go on.
        """
        self._batches += self._earlier_batches()
        self._waits = waits = Waits(self._client, [{"batchId": id} for id in self._batches])
        ended, since = 0, 0
        for poll in numbers():
            batches = [self._service.get(f"/api/batches/{id}") for id in self._batches]
            accepted = sum(batch["accepted"] for batch in batches)
            self.states = _sums(batches)
            left = sum(self.states[state] for state in _OPEN)
            show(accepted - left, accepted)
            if left == 0:
                return
            if accepted - left != ended:
                ended, since = accepted - left, poll
                tell("", False)
            elif (poll - since) % _QUIET_POLLS == _QUIET_POLLS - 1:
                tell(waits.look(), waits.is_news)
            self._service.pause()

    def open_jobs(self) -> str:
        """What the open jobs do and wait for, in words."""
        return self._waits.state()

    def result(self) -> Result:
        """The outcome of the files, as of now."""
        result = Result(outcome=self._outcome, skipped=list(self._outcome.skipped))
        result.problems += self._outcome.rejected
        for row in self._rows():
            result.states[row["status"]] += 1
            if row["status"] not in (_FINE, *_OPEN):
                result.problems.append(
                    Problem(
                        path=row["path"],
                        status=row["status"],
                        code=row["code"],
                        detail=row["detail"],
                    )
                )
        return result

    def _rows(self) -> Sequence[dict[str, Any]]:
        """The accepted files of this upload in all batches, each source once."""
        rows: dict[str, dict[str, Any]] = {}
        for id in self._batches:
            for row in self._service.get(f"/api/batches/{id}/report")["files"]:
                source = row["knowledgeSourceId"]
                ours = id == self._outcome.batch_id or source in self._outcome.already_open
                if row["verdict"] == "accepted" and row["status"] is not None and ours:
                    rows[source] = row
        return list(rows.values())

    def _earlier_batches(self) -> list[str]:
        """Batches of files that an earlier upload left in progress: a few, usually one."""
        batches: list[str] = []
        missing = dict(self._outcome.already_open)
        while missing:
            _, job = missing.popitem()
            try:
                batch = self._service.get(f"/api/jobs/{job}")["batchId"]
                if batch is None or batch in self._batches or batch in batches:
                    continue
                report = self._service.get(f"/api/batches/{batch}/report")
            except Refused as error:
                if error.status != 404:
                    raise
                continue  # deleted meanwhile
            batches.append(batch)
            for row in report["files"]:
                missing.pop(row["knowledgeSourceId"], None)
        return batches


def _sums(batches: Sequence[dict[str, Any]]) -> Counter[str]:
    return Counter(
        {state: sum(batch.get(state, 0) for batch in batches) for state in (*_OPEN, "failed")}
    )


def print_result(console: Console, result: Result) -> None:
    """The counts, and a table of files that are not searchable, with the reason."""
    verdicts = result.outcome.verdicts
    parts = [count(verdicts.total(), "file")]
    words = {
        "accepted": "accepted",
        "unchanged": "already there",
        "duplicate": "duplicate",
        "rejected": "rejected",
    }
    parts += [f"{verdicts[name]:,} {word}" for name, word in words.items() if verdicts[name]]
    console.print(" · ".join(parts))
    if result.states:
        console.print(
            " · ".join(
                f"{number:,} {state.replace('_', ' ')}" for state, number in result.states.items()
            )
        )
    if result.problems:
        console.print(_table(result.problems[:_SHOWN]))
    hidden = len(result.problems) - _SHOWN
    if hidden > 0:
        console.print(f"… and {hidden:,} more: `--json` lists all")


def print_skipped(console: Console, skipped: Sequence[Skipped]) -> None:
    """The files that were not sent: hidden files as a number, the rest by name."""
    hidden = sum(1 for file in skipped if file.reason == "hidden")
    if hidden:
        console.print(f"skipped {count(hidden, 'hidden file')}")
    others = [file for file in skipped if file.reason != "hidden"]
    for file in others[:_SHOWN]:
        console.print(plain(f"skipped {file.path}: {file.reason}"))
    if len(others) > _SHOWN:
        console.print(f"… and {len(others) - _SHOWN:,} more")


def _table(problems: Sequence[Problem]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("file", "state", "code", "why"):
        table.add_column(name, overflow="fold")
    for file in problems:
        table.add_row(*map(plain, (file.path, file.status, file.code, file.detail)))
    return table
