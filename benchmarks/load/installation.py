"""A service as its users run it, with its own Postgres; a bulk load, and a person who searches."""

import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.core.processes import family_cpu_seconds
from benchmarks.load.texts import modules, questions
from harness.service import Service, services, until

_THINK_SECONDS: Final = 0.25
_WITHIN_SECONDS: Final = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A bulk load, from the first byte of the upload until all files are searchable."""

    megabytes: float
    seconds: float
    cpu_seconds: float
    """Of the service, its parsers and its Postgres."""
    searches: list[float]
    """Seconds of each search meanwhile."""


class Installation:
    def __init__(self, service: Service) -> None:
        self._service = service
        self._files = modules()
        self._questions = questions(list(self._files))

    def load(self, *, files: int, searching: bool) -> Loaded:
        """Upload new files in one request; with `searching`, a person asks until all are ended."""
        chosen, self._files = self._files[:files], self._files[files:]
        assert len(chosen) == files, "Python has not as many modules"
        ended = threading.Event()
        before = family_cpu_seconds(self._service.process.pid)
        started = time.perf_counter()
        with ThreadPoolExecutor(1) as person:
            asked = person.submit(self._ask_until, ended) if searching else None
            try:
                batch = self._service.upload(chosen)["batchId"]
                counts = until(lambda: self._ended(batch), within=_WITHIN_SECONDS, every=0.1)
                seconds = time.perf_counter() - started
            finally:
                ended.set()
        assert counts["completed"] == files, counts
        return Loaded(
            megabytes=sum(len(content) for _, content in chosen) / 1e6,
            seconds=seconds,
            cpu_seconds=family_cpu_seconds(self._service.process.pid) - before,
            searches=asked.result() if asked else [],
        )

    def search(self, count: int) -> list[float]:
        """Seconds of each search while nothing else is done."""
        return [self._ask() for _ in range(count)]

    def _ended(self, batch: str) -> Any:
        counts = self._service.get(f"/api/batches/{batch}")
        return counts if not counts["pending"] and not counts["processing"] else None

    def _ask_until(self, ended: threading.Event) -> list[float]:
        """One question after another, each after some thought."""
        searches = [self._ask()]
        while not ended.wait(_THINK_SECONDS):
            searches.append(self._ask())
        return searches

    def _ask(self) -> float:
        started = time.perf_counter()
        hits = self._service.search(next(self._questions))
        seconds = time.perf_counter() - started
        assert hits, "a search found nothing"
        return seconds


@contextmanager
def installation(*, filled: int) -> Iterator[Installation]:
    """With `filled` files, and without a DATABASE_URL: the service has its own Postgres."""
    with (
        tempfile.TemporaryDirectory() as folder,
        services(data=Path(folder), env={"INGEST_OCR": "off"}) as start,
    ):
        opened = Installation(start("serve").wait_until_ready(within=120))
        opened.load(files=filled, searching=False)
        yield opened
