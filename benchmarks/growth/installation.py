"""One filled installation, and the measurements of its rounds."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from benchmarks.growth.chores import chores
from benchmarks.growth.questions import again, ask, asked, delete
from benchmarks.growth.texts import Texts
from benchmarks.growth.uploads import Files, Spent, service_on, spend

Uploads = Sequence[tuple[UUID, Files]]


@dataclass(slots=True, kw_only=True)
class Installation:
    dsn: str
    stored: int
    applications: Sequence[UUID]
    spent: list[Spent] = field(default_factory=list)
    """By round."""
    questions: dict[str, list[float]] = field(default_factory=dict)
    """Milliseconds of each question or chore, by round."""

    @property
    def name(self) -> str:
        return f"{self.stored:,} stored"

    def new_files(self, count: int, texts: Texts, *, seed: int) -> Uploads:
        """About `count` new files, divided equally among the applications; at least one each."""
        each = max(1, count // len(self.applications))
        made = texts.make(each * len(self.applications), seed=seed)
        return [
            (
                application,
                [(f"round{seed}/{n}.md", next(made).content.encode()) for n in range(each)],
            )
            for application in self.applications
        ]

    def round(self, files: Uploads, *, warm_up: Uploads, deleted: int) -> None:
        """Start a service, upload, ask, delete, and stop the service; then measure the chores."""
        application, first = files[0]
        with service_on(self.dsn) as service:
            spend(service, self.dsn, warm_up)
            spent = spend(service, self.dsn, files)
            self.spent.append(spent)
            about = asked(service, self.dsn, application)
            self._note(ask(about))
            self._note({"unchanged upload, per file": again(about, first)})
            answered, purged = delete(about, self.dsn, spent.sources[: min(deleted, len(first))])
            self._note({"delete a source": answered, "until nothing is left of it": purged})
        self._note(chores(self.dsn, application))

    def _note(self, measured: dict[str, float]) -> None:
        for name, value in measured.items():
            self.questions.setdefault(name, []).append(value)

    def median(self, question: str) -> float:
        return statistics.median(self.questions[question])
