"""Typical requests to an installation, and its own queries: milliseconds of each."""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import psycopg

from api.authentication import APPLICATION_HEADER
from api.schema.pagination import encode_cursor
from benchmarks.growth.uploads import Files, upload
from harness.service import Service, until

_REPEATS: Final = 11
_FROM_THE_END: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """An application, and the objects in it to request."""

    service: Service
    application: UUID
    batch: UUID
    """An earlier upload with the most files."""
    source: UUID
    deep: str
    """The cursor of a page near the end of its list of sources."""

    def get(self, path: str, **query: str) -> Any:
        """The JSON of the answer, or its text."""
        answer = self.service.http.get(path, params=query, headers=self._headers())
        assert answer.status_code == 200, (path, answer.status_code, answer.text[:500])
        return answer.json() if "json" in answer.headers["content-type"] else answer.text

    def _headers(self) -> dict[str, str]:
        return {APPLICATION_HEADER: str(self.application)}

    def delete(self, source: str) -> None:
        answer = self.service.http.delete(
            f"/api/knowledge-sources/{source}", headers=self._headers()
        )
        assert answer.status_code == 204, answer.text


def asked(service: Service, dsn: str, application: UUID) -> Asked:
    """Choose objects of an application in a filled installation."""
    with psycopg.connect(dsn) as conn:
        [(batch,)] = conn.execute(
            "select id from rag.upload_batches where application_id = %s "
            "order by accepted desc limit 1",
            [application],
        ).fetchall()
        oldest = conn.execute(
            "select created_at, id from rag.knowledge_sources where application_id = %s "
            "and deleted_at is null order by created_at, id limit %s",
            [application, _FROM_THE_END],
        ).fetchall()
        at, source = oldest[-1]
    return Asked(
        service=service,
        application=application,
        batch=batch,
        source=source,
        deep=encode_cursor((at, source)),
    )


def ask(about: Asked) -> dict[str, float]:
    """The median milliseconds of each request, over HTTP."""
    sources = "/api/knowledge-sources"
    requests: Mapping[str, Callable[[], object]] = {
        "sources, first page of 50": lambda: about.get(sources, limit="50"),
        "sources, a page at the far end": lambda: about.get(sources, limit="50", cursor=about.deep),
        "sources, the failed ones (none)": lambda: about.get(sources, status="failed"),
        "sources, by path": lambda: about.get(sources, uri="stored/0/0.md"),
        "sources, of a batch": lambda: about.get(sources, batchId=str(about.batch)),
        "one source": lambda: about.get(f"{sources}/{about.source}"),
        "documents of a source": lambda: about.get(f"{sources}/{about.source}/documents"),
        "chunks of a source": lambda: about.get(f"{sources}/{about.source}/chunks"),
        "progress of a source": lambda: about.get(f"/api/knowledge-source/{about.source}/progress"),
        "progress of an application": lambda: about.get(
            f"/api/knowledge-source/{about.application}/progress"
        ),
        "jobs, first page": lambda: about.get("/api/jobs"),
        "jobs, the failed ones (none)": lambda: about.get("/api/jobs", status="failed"),
        "counts of a batch": lambda: about.get(f"/api/batches/{about.batch}"),
        "report of a batch": lambda: about.get(f"/api/batches/{about.batch}/report"),
        "search": lambda: about.service.http.post(
            "/api/search",
            json={"query": "how to open a file", "limit": 10},
            headers={APPLICATION_HEADER: str(about.application)},
        ).raise_for_status(),
    }
    return {name: median_ms(request) for name, request in requests.items()}


def median_ms(work: Callable[[], object]) -> float:
    """The median of several calls, including the first ones, which plan and fill caches."""
    spent = []
    for _ in range(_REPEATS):
        started = time.perf_counter()
        work()
        spent.append((time.perf_counter() - started) * 1000)
    return statistics.median(spent)


def again(about: Asked, files: Files) -> float:
    """Milliseconds per file of an upload without changes."""
    started = time.perf_counter()
    verdicts = upload(about.service, about.application, files)
    spent = time.perf_counter() - started
    assert {file["verdict"] for file in verdicts} == {"unchanged"}, verdicts[:3]
    return spent * 1000 / len(files)


def delete(about: Asked, dsn: str, sources: Sequence[str]) -> tuple[float, float]:
    """Milliseconds per source until it is hidden from users, and until all its rows are removed."""
    started = time.perf_counter()
    for source in sources:
        about.delete(source)
    answered = time.perf_counter() - started
    with psycopg.connect(dsn, autocommit=True) as conn:
        until(lambda: not _left(conn, sources), within=60)
    purged = time.perf_counter() - started
    return answered * 1000 / len(sources), purged * 1000 / len(sources)


def _left(conn: psycopg.Connection[Any], sources: Sequence[str]) -> int:
    [(count,)] = conn.execute(
        "select count(*) from rag.knowledge_sources where id = any(%s::uuid[])", [list(sources)]
    ).fetchall()
    return int(count)
