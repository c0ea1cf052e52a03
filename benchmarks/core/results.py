"""What a benchmark found out: kept as JSON, so that one of them can be run again alone."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict


class _Result(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Goal(_Result):
    """A figure that was promised: at least or at most so much of something measured."""

    text: str
    measured: float | None
    """None: could not be measured, as `why` says."""
    at_least: float | None = None
    at_most: float | None = None
    unit: str = "x"
    why: str = ""
    """Where it is not met: what a profile says."""

    @property
    def is_met(self) -> bool:
        if self.measured is None:
            return False
        enough = self.at_least is None or self.measured >= self.at_least
        return enough and (self.at_most is None or self.measured <= self.at_most)


class Race(_Result):
    """Contestants at the same work, in alternating rounds."""

    title: str
    unit: str
    reference: str
    """The contestant that the others are measured by."""
    rounds: dict[str, list[float]]
    """What each contestant reached, by round."""
    is_more_better: bool = True
    note: str = ""
    facts: dict[str, dict[str, str]] = {}
    """More about a contestant, by column."""
    absent: dict[str, str] = {}
    """Who did not take part, and why."""

    def median(self, contestant: str) -> float:
        return statistics.median(self.rounds[contestant])

    def ratio(self, contestant: str, to: str) -> float:
        """How many times as good as `to`: above 1 is better, whatever the unit."""
        ours, theirs = self.median(contestant), self.median(to)
        if not self.is_more_better:
            ours, theirs = theirs, ours
        return ours / theirs if theirs else float("inf")

    def best(self, contestants: Sequence[str]) -> str | None:
        """The best of those that took part."""
        present = [name for name in contestants if name in self.rounds]
        choose = max if self.is_more_better else min
        return choose(present, key=self.median, default=None)


class Table(_Result):
    """Figures that are no race."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    note: str = ""


class Section(_Result):
    """All that one benchmark found out."""

    name: str
    title: str
    text: str = ""
    races: list[Race] = []
    tables: list[Table] = []
    goals: list[Goal] = []
    machine: str = ""
    """Where and with what it was measured; filled in when it is saved."""

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{self.name}.json").write_text(self.model_dump_json(indent=1) + "\n")


def load_sections(folder: Path, order: Sequence[str]) -> list[Section]:
    """What is in the folder, in this order."""
    files = [folder / f"{name}.json" for name in order]
    return [Section.model_validate_json(file.read_bytes()) for file in files if file.exists()]


def alternate(
    contestants: Mapping[str, Callable[[int], float]], *, rounds: int
) -> dict[str, list[float]]:
    """Let each run once in every round, in turned order, so that no place is always the same's.

    A contestant is called with the number of the round and answers what it reached.
    """
    reached: dict[str, list[float]] = {name: [] for name in contestants}
    names = list(contestants)
    for number in range(rounds):
        for name in names if number % 2 == 0 else reversed(names):
            reached[name].append(contestants[name](number))
            print(f"  round {number + 1}: {name} {reached[name][-1]:.4g}", flush=True)
    return reached
