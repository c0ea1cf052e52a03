"""A filled database, and two ways to search it: by function call and over HTTP."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final
from uuid import UUID

import numpy as np

from benchmarks.core.postgres import Server
from benchmarks.search.fill import Filled, fill
from benchmarks.search.ours import InProcess, http_client
from benchmarks.search.texts import Chunks, Texts
from benchmarks.search.timing import Mode, Question, spent
from harness.service import services

_SEED: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    chunks: Chunks
    filled: Filled
    function: InProcess
    url: str
    """URL of an `ingest api` process."""
    questions: Sequence[Question]
    """The number of questions to an application is proportional to its size."""

    @property
    def title(self) -> str:
        owners = len(self.filled.applications)
        owned = "1 application" if owners == 1 else f"{owners} applications"
        return f"{len(self.chunks.texts):,} chunks, {owned}"

    def asked(self, mode: Mode) -> list[Question]:
        return [replace(question, mode=mode) for question in self.questions]

    def by_function(self, questions: Sequence[Question], clients: int = 1) -> list[float]:
        """Milliseconds of each question, by the function behind the route."""
        return self.function.spent(questions, clients=clients)

    def by_http(self, questions: Sequence[Question], clients: int = 1) -> list[float]:
        """Milliseconds of each question, from the first byte sent to the last byte received."""
        return spent(partial(http_client, self.url), questions, clients=clients)


@contextmanager
def installation(
    server: Server, texts: Texts, chunks: Chunks, *, applications: int
) -> Iterator[Installation]:
    """A new database, with a service on it."""
    name = f"search_{len(chunks.texts)}_{applications}"
    with (
        tempfile.TemporaryDirectory() as folder,
        server.database(name, migrated=True) as dsn,
    ):
        data = Path(folder)
        filled = fill(dsn, chunks, model=texts.embedder.model, applications=applications)
        server.settle()
        with (
            services(data=data, env={"DATABASE_URL": dsn}) as start,
            InProcess(dsn, data / "own") as function,
        ):
            service = start("api").wait_until_ready()
            yield Installation(
                chunks=chunks,
                filled=filled,
                function=function,
                url=service.url,
                questions=_questions(texts, filled),
            )


def _questions(texts: Texts, filled: Filled) -> list[Question]:
    rng = np.random.default_rng(_SEED)
    owners: list[UUID] = [
        filled.owners[n] for n in rng.integers(len(filled.ids), size=len(texts.questions))
    ]
    pairs = zip(texts.questions, texts.question_vectors, owners, strict=True)
    return [Question(text=text, vector=vector, application=owner) for text, vector, owner in pairs]
