"""The cost of new files in a filled installation: elapsed time, and CPU by process."""

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import psycopg

from api.authentication import APPLICATION_HEADER
from benchmarks.core.postgres import server_process
from benchmarks.core.processes import family_cpu_seconds
from harness.service import Service, services, until

Files = Sequence[tuple[str, bytes]]

# The default times, instead of the short ones of the acceptance tests.
_LEASE: Final = {"INGEST_HEARTBEAT": "20", "INGEST_STALE_AFTER": "120"}


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one file."""

    seconds: float
    service_cpu: float
    """Seconds of the service and its parsers."""
    postgres_cpu: float
    wal_bytes: float

    @property
    def cpu(self) -> float:
        return self.service_cpu + self.postgres_cpu


@dataclass(frozen=True, slots=True)
class Spent:
    """The cost of one upload, per file."""

    searchable: Cost
    """From the first byte until every file is searchable."""
    indexed: Cost
    """From then until every vector is in the HNSW index."""
    sources: Sequence[str]
    """Ids of the sources, in the order of the files."""


@contextmanager
def service_on(dsn: str) -> Iterator[Service]:
    """A real `ingest serve` with an empty blob store."""
    with (
        tempfile.TemporaryDirectory() as folder,
        services(data=Path(folder), env={"DATABASE_URL": dsn, **_LEASE}) as start,
    ):
        yield start("serve").wait_until_ready(within=120)


def upload(service: Service, application: UUID, files: Files) -> list[Any]:
    """Upload the files; returns the answer for each file."""
    answer = service.http.post(
        "/upload/documents",
        files=[("files", file) for file in files],
        headers={APPLICATION_HEADER: str(application)},
    )
    assert answer.status_code == 202, answer.text[:2000]
    verdicts: list[Any] = answer.json()["files"]
    assert len(verdicts) == len(files), answer.text[:2000]
    return verdicts


class Meter:
    """Reads the CPU time of a service and of its Postgres."""

    def __init__(self, service: Service, conn: psycopg.Connection[Any], dsn: str) -> None:
        self._service = service.process.pid
        self._postgres = server_process(dsn)
        self._conn = conn

    def read(self) -> tuple[float, float, float, float]:
        [(wal,)] = self._conn.execute("select pg_current_wal_lsn() - '0/0'").fetchall()
        return (
            time.perf_counter(),
            family_cpu_seconds(self._service),
            family_cpu_seconds(self._postgres),
            float(wal),
        )

    def cost(self, work: Callable[[], object], files: int) -> Cost:
        before = self.read()
        work()
        after = self.read()
        return Cost(*((b - a) / files for a, b in zip(before, after, strict=True)))


def spend(service: Service, dsn: str, uploads: Sequence[tuple[UUID, Files]]) -> Spent:
    """Upload each application's files in one request. Raises an error if one is not completed."""
    count = sum(len(files) for _, files in uploads)
    with psycopg.connect(dsn, autocommit=True) as conn:
        meter = Meter(service, conn, dsn)
        sources: list[str] = []

        def until_searchable() -> None:
            for application, files in uploads:
                verdicts = upload(service, application, files)
                sources.extend(file["knowledgeSourceId"] for file in verdicts)
            until(lambda: not _open(conn), within=300)

        searchable = meter.cost(until_searchable, count)
        _refuse_missing(conn, sources)
        indexed = meter.cost(lambda: until(lambda: not _fresh(conn), within=300), count)
    return Spent(searchable, indexed, sources)


def _open(conn: psycopg.Connection[Any]) -> int:
    [(count,)] = conn.execute(
        "select count(*) from rag.knowledge_sources "
        "where status in ('pending', 'processing') and deleted_at is null"
    ).fetchall()
    return int(count)


def _fresh(conn: psycopg.Connection[Any]) -> int:
    """Number of searchable vectors that are not in the index yet."""
    [(count,)] = conn.execute(
        "select (select count(*) from rag.embeddings_fresh) + (select count(*) "
        "from rag.embedding_models as model join only rag.embeddings as staged "
        "on staged.model_id = model.id and staged.generation = model.build_generation)"
    ).fetchall()
    return int(count)


def _refuse_missing(conn: psycopg.Connection[Any], sources: Sequence[str]) -> None:
    [(stored,)] = conn.execute(
        "select count(*) from rag.knowledge_sources as source "
        "join rag.chunks as chunk on chunk.source_id = source.id "
        "join rag.embeddings as vector on vector.chunk_id = chunk.id "
        "where source.id = any(%s::uuid[]) and source.status = 'completed'",
        [list(sources)],
    ).fetchall()
    assert stored == len(sources), (stored, len(sources))
