"""The outcome of an upload: counts, and the files that are not searchable."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from rich.console import Console

from api.cli.client.local_files import Skipped
from api.cli.client.uploader import UnsearchableFile, UploadAnswers
from api.cli.output import count, join_parts, plain, table

_MAX_SHOWN: Final = 50
_VERDICTS: Final = {
    "accepted": "accepted",
    "unchanged": "already stored",
    "duplicate": "duplicate",
    "rejected": "rejected",
}


@dataclass(slots=True, kw_only=True)
class UploadResult:
    """Everything that the command reports at its end."""

    answers: UploadAnswers
    states: Counter[str] = field(default_factory=Counter)
    """Number of sources per state, of files that were accepted or still in progress."""
    problems: list[UnsearchableFile] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    @property
    def has_failures(self) -> bool:
        """Whether a file that should be searchable is not."""
        missed = any(file.is_failure for file in self.skipped)
        return missed or any(file.status in ("rejected", "failed") for file in self.problems)

    def as_json(self) -> dict[str, Any]:
        verdicts = self.answers.verdicts
        return {
            "batchId": self.answers.batch_id,
            "total": verdicts.total(),
            "sent": self.answers.files_sent,
            **{name: verdicts[name] for name in _VERDICTS},
            "states": dict(self.states),
            "problems": [asdict(file) for file in self.problems],
            "skipped": [{"path": file.path, "reason": file.reason} for file in self.skipped],
        }


def print_result(console: Console, result: UploadResult) -> None:
    """Print the counts, and a table of files that are not searchable, with the reason."""
    verdicts = result.answers.verdicts
    counts = [f"{verdicts[name]:,} {text}" for name, text in _VERDICTS.items() if verdicts[name]]
    console.print(join_parts(count(verdicts.total(), "file"), *counts))
    if result.states:
        states = result.states.items()
        console.print(join_parts(*(f"{n:,} {state.replace('_', ' ')}" for state, n in states)))
    if result.problems:
        rows = table(("file", "status", "code", "reason"))
        for file in result.problems[:_MAX_SHOWN]:
            rows.add_row(*map(plain, (file.path, file.status, file.code, file.detail)))
        console.print(rows)
    _print_rest(console, len(result.problems))


def print_skipped(console: Console, skipped: Sequence[Skipped]) -> None:
    """Print the files that were not sent: the number of hidden files, and the names of the rest."""
    hidden = sum(1 for file in skipped if file.reason == "hidden")
    if hidden:
        console.print(f"skipped {count(hidden, 'hidden file')}")
    others = [file for file in skipped if file.reason != "hidden"]
    for file in others[:_MAX_SHOWN]:
        console.print(plain(f"skipped {file.path}: {file.reason}"))
    _print_rest(console, len(others))


def _print_rest(console: Console, number: int) -> None:
    if number > _MAX_SHOWN:
        console.print(f"… and {number - _MAX_SHOWN:,} more (all with --json)")
