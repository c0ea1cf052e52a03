"""Results of a benchmark, saved as JSON, so that a single benchmark can be run again."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict


class _Result(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Goal(_Result):
    """A promised limit: a measured figure must be at least, or at most, this value."""

    text: str
    measured: float | None
    """None: it could not be measured; `why` gives the reason."""
    at_least: float | None = None
    at_most: float | None = None
    unit: str = "x"
    why: str = ""
    """If the goal is not met: the reason, according to a profile."""

    @property
    def is_met(self) -> bool:
        if self.measured is None:
            return False
        enough = self.at_least is None or self.measured >= self.at_least
        return enough and (self.at_most is None or self.measured <= self.at_most)


class Race(_Result):
    """Contestants doing the same work, in alternating rounds."""

    title: str
    unit: str
    reference: str
    """The contestant that all others are compared with."""
    rounds: dict[str, list[float]]
    """The result of each contestant, by round."""
    is_more_better: bool = True
    note: str = ""
    facts: dict[str, dict[str, str]] = {}
    """Further figures of a contestant, by column."""
    absent: dict[str, str] = {}
    """Contestants that did not take part, and why."""

    def median(self, contestant: str) -> float:
        return statistics.median(self.rounds[contestant])

    def ratio(self, contestant: str, to: str) -> float:
        """How many times better than `to`: above 1 is better, whatever the unit."""
        ours, theirs = self.median(contestant), self.median(to)
        if not self.is_more_better:
            ours, theirs = theirs, ours
        return ours / theirs if theirs else float("inf")

    def best(self, contestants: Sequence[str]) -> str | None:
        """The best contestant that took part."""
        present = [name for name in contestants if name in self.rounds]
        choose = max if self.is_more_better else min
        return choose(present, key=self.median, default=None)


class Table(_Result):
    """Figures without a race."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    note: str = ""


class Section(_Result):
    """All results of one benchmark."""

    name: str
    title: str
    text: str = ""
    races: list[Race] = []
    tables: list[Table] = []
    goals: list[Goal] = []
    machine: str = ""
    """The machine and software; filled in when the results are saved."""

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{self.name}.json").write_text(self.model_dump_json(indent=1) + "\n")


def load_sections(folder: Path, order: Sequence[str]) -> list[Section]:
    """The results in the folder, in the order of the names."""
    files = [folder / f"{name}.json" for name in order]
    return [Section.model_validate_json(file.read_bytes()) for file in files if file.exists()]


def alternate(
    contestants: Mapping[str, Callable[[int], float]], *, rounds: int
) -> dict[str, list[float]]:
    """Run each contestant once per round, in reverse order every other round.

    A contestant is called with the number of the round, and returns its result.
    """
    reached: dict[str, list[float]] = {name: [] for name in contestants}
    names = list(contestants)
    for number in range(rounds):
        for name in names if number % 2 == 0 else reversed(names):
            reached[name].append(contestants[name](number))
            print(f"  round {number + 1}: {name} {reached[name][-1]:.4g}", flush=True)
    return reached
