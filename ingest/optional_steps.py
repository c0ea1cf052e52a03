"""Optional steps that only improve a result: if one fails, its input is used instead.

A bug in heading detection costs the headings, never the file. Within `recording()` the failure is
recorded with the step's name and the place of the error, so that the document gets a warning and
the parent process can log and count it.
"""

import logging
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from pathlib import PurePath
from typing import TypeVar

from ingest.errors import IngestError
from ingest.model import Document, SkippedStep, Step

T = TypeVar("T")
_FRAMES = 3  # of the traceback, the innermost
_LONGEST_CAUSE = 300  # characters

log = logging.getLogger(__name__)


class SkippedSteps:
    """The steps that failed on one file, each with its first cause."""

    def __init__(self) -> None:
        self._causes: dict[Step, str] = {}
        self._times: Counter[Step] = Counter()

    def add(self, step: Step, error: BaseException) -> None:
        """Record a failure."""
        if step not in self._causes:
            self._causes[step] = cause_of(error)
        self._times[step] += 1

    def take(self, other: "SkippedSteps") -> None:
        """Add the failures of another recording."""
        self._causes = {**other._causes, **self._causes}
        self._times += other._times

    def found(self) -> tuple[SkippedStep, ...]:
        """One entry per step."""
        return tuple(
            SkippedStep(step=step, cause=cause, times=self._times[step])
            for step, cause in self._causes.items()
        )

    def noted_in(self, document: Document) -> Document:
        """The document with the steps that failed and a warning for each."""
        found = self.found()
        if not found:
            return document
        warnings = (f"{skipped.step}_skipped" for skipped in found)
        return replace(
            document,
            skipped=(*document.skipped, *found),
            warnings=(*document.warnings, *warnings),
        )


_record: ContextVar[SkippedSteps | None] = ContextVar("skipped_steps", default=None)


@contextmanager
def recording() -> Iterator[SkippedSteps]:
    """Collect the failures inside the block; at its end, an outer recording gets them too."""
    record, outer = SkippedSteps(), _record.get()
    token = _record.set(record)
    try:
        yield record
    finally:
        _record.reset(token)
        if outer is not None:
            outer.take(record)


def improve(step: Step, work: Callable[[], T], *, otherwise: Callable[[], T]) -> T:
    """The result of `work`; if that fails, the result of `otherwise`: the step's input.

    `work` must not leave its input half changed: it returns a new value, or `otherwise` undoes its
    changes. Errors raised on purpose (limits, `encrypted`, timeouts) and MemoryError concern the
    file, not the step: they propagate.
    """
    try:
        return work()
    except (IngestError, MemoryError):
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        record = _record.get()
        if record is None:
            log.warning("step %s skipped: %s", step, cause_of(error))
        else:
            record.add(step, error)
        return otherwise()


def attempt(step: Step, work: Callable[[], object]) -> None:
    """Like `improve`, for work without a result: if it fails, nothing is added."""
    improve(step, work, otherwise=_nothing)


def _nothing() -> None: ...


def is_panic(error: BaseException) -> bool:
    """Whether a Rust library panicked: its panics do not derive from Exception."""
    return "Panic" in type(error).__name__


def cause_of(error: BaseException) -> str:
    """Type and place of an error, without its message, which may quote the document."""
    frames = deque(traceback.walk_tb(error.__traceback__), maxlen=_FRAMES)
    places = (f"{PurePath(frame.f_code.co_filename).name}:{line}" for frame, line in frames)
    missing = f" ({error.name})" if isinstance(error, ImportError) else ""
    return f"{type(error).__name__}{missing} at {' > '.join(places)}"[:_LONGEST_CAUSE]
