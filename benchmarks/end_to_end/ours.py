"""This project as its users run it: `ingest serve`, and files uploaded in one request."""

import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.core.postgres import Server
from benchmarks.core.processes import family, family_cpu_seconds, own_cpu_seconds
from benchmarks.core.texts import text_files
from benchmarks.end_to_end.memory import peak_of
from benchmarks.end_to_end.outcome import Cpu, Outcome, Row, check
from benchmarks.end_to_end.receiver import seconds_to_receive
from benchmarks.end_to_end.works import Work
from harness.service import Service, services, until
from ingest.analysis.subject import Subject, context_line

SETTINGS = {
    "INGEST_WORKER_CONCURRENCY": "48",
    "INGEST_OCR": "off",  # no other contestant reads pictures
    "INGEST_WORKER_PROCESSES": "",  # by cores, as users have it
}
MIB = 1024 * 1024
_WITHIN_SECONDS = 300
_POLL_SECONDS = 0.1
_ROWS = """
select chunk.content, embedding.embedding, document.title, document.uri, source.name,
       document.metadata ->> 'author', chunk.headings
  from rag.chunks as chunk
  join rag.documents as document on document.id = chunk.document_id
  join rag.knowledge_sources as source on source.id = chunk.source_id
  join rag.embeddings as embedding on embedding.chunk_id = chunk.id
  join app.applications as application on application.id = chunk.application_id
 where application.is_default
"""


def _embedded(row: Row) -> str:
    """The chunk behind its line of context, as the service embeds it."""
    content, _, title, uri, name, author, headings = row
    subject = Subject(title=title, uri=uri, name=name, author=author, language=None)
    context = context_line(subject, tuple(headings))
    return f"{context}\n\n{content}" if context else str(content)


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """The same files, uploaded a second time."""

    seconds: float
    """From the first byte of the upload until all files are terminal."""
    upload: float
    """Seconds that a bare server takes to receive the same upload."""
    embedding_calls: int
    parser_runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OurOutcome(Outcome):
    until_indexed: float
    """Seconds until all vectors are in the HNSW index too."""
    second: Again | None
    stages: dict[str, float]
    """The share of each stage in the time of all attempts."""


def run(server: Server, work: Work, *, again: bool) -> OurOutcome:
    """Measure from the first byte of the upload until every file is completed (searchable)."""
    with (
        server.database("end_to_end_ours", migrated=True) as dsn,
        _service(dsn, **SETTINGS) as service,
    ):
        _warm_up(service, work)
        server.settle()
        with peak_of(service.process.pid) as peak:
            before = _cpu(server, service)
            started = time.perf_counter()
            ingest(service, work.named_files())
            seconds = time.perf_counter() - started
            _wait_until_indexed(dsn)
            until_indexed = time.perf_counter() - started
            after = _cpu(server, service)
        stored = check(dsn, work, _ROWS, embedded=_embedded)
        stages = _stages(dsn)
        second = ingest_again(service, work) if again else None
        return OurOutcome(
            seconds=seconds,
            stored=stored,
            memory=peak.bytes,
            cpu=Cpu(
                own=after.own - before.own,
                parsers=after.parsers - before.parsers,
                postgres=after.postgres - before.postgres,
            ),
            index="in place",
            again=second.seconds if second else None,
            until_indexed=until_indexed,
            second=second,
            stages=stages,
        )


def _cpu(server: Server, service: Service) -> Cpu:
    """Processor time so far."""
    main = service.process.pid
    own = family_cpu_seconds(main)
    workers = [pid for pid in family(main) if _is_worker_process(pid)]
    return Cpu(
        own=own,
        parsers=own - sum(map(own_cpu_seconds, [main, *workers])),
        postgres=server.cpu_seconds(),
    )


def _is_worker_process(pid: int) -> bool:
    """Whether `ingest serve` started it to work; its parsers are its children."""
    with suppress(OSError):
        return b"worker-process" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return False


@contextmanager
def _service(dsn: str, **env: str) -> Iterator[Service]:
    with (
        tempfile.TemporaryDirectory() as data,
        services(data=Path(data), env={"DATABASE_URL": dsn, **env}) as start,
    ):
        yield start("serve").wait_until_ready()


def _warm_up(service: Service, work: Work) -> None:
    """Process files of another application first, to start parsers and load their libraries."""
    answer = service.http.post("/api/applications", json={"name": "warm-up"})
    application = answer.raise_for_status().json()["id"]
    path = f"/api/applications/{application}/keys"
    answer = service.http.post(path, json={"name": "warm-up", "role": "editor"})
    headers = {"Authorization": f"Bearer {answer.raise_for_status().json()['key']}"}
    ingest(service, work.named_files()[:8], headers=headers)


def ingest(
    service: Service,
    files: Sequence[tuple[str, bytes]],
    *,
    headers: dict[str, str] | None = None,
    every: float = _POLL_SECONDS,
) -> Any:
    """Upload in one request, wait for the last file, and return the batch's counts."""
    parts = [("files", file) for file in files]
    answer = service.http.post("/upload/documents", files=parts, headers=headers)
    assert answer.status_code == 202, answer.text[:2000]
    path = f"/api/batches/{answer.json()['batchId']}"

    def ended() -> Any:
        counts = service.http.get(path, headers=headers).raise_for_status().json()
        return counts if not counts["pending"] and not counts["processing"] else None

    counts = until(ended, within=_WITHIN_SECONDS, every=every)
    # A PDF with a page without text is `partial`; the rest of it is searchable.
    done = counts["completed"] + counts["partial"] + counts["unchanged"]
    assert done == len(files), counts
    return counts


def _wait_until_indexed(dsn: str) -> None:
    """Wait until all vectors are under the index that searches use."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        row = conn.execute("select to_regclass('rag.embeddings_fresh')").fetchone()
        if row == (None,):
            return
        until(
            lambda: (
                conn.execute(
                    "select not exists (select from rag.embeddings_fresh) and not exists "
                    "(select from rag.embedding_models where build_generation is not null)"
                ).fetchone()
                == (True,)
            ),
            within=_WITHIN_SECONDS,
            every=_POLL_SECONDS,
        )


def _stages(dsn: str) -> dict[str, float]:
    with psycopg.connect(dsn) as conn:
        rows = conn.execute(
            "select stage, extract(epoch from sum(duration_ms * interval '1 ms'))::float8 "
            "from rag.job_logs where duration_ms is not null group by stage"
        ).fetchall()
        row = conn.execute(
            "select extract(epoch from sum(completed_at - started_at))::float8 "
            "from rag.processing_jobs where status = 'completed' and type = 'file'"
        ).fetchone()
    assert row is not None
    shares = {stage: seconds / row[0] for stage, seconds in rows}
    return {**shares, "waiting for slots, parsers and commits": 1 - sum(shares.values())}


def ingest_again(service: Service, work: Work) -> Again:
    """Upload the files that are already stored."""
    files = work.named_files()
    before = _work_done(service)
    assert all(before), "the metrics do not tell of the first time"
    started = time.perf_counter()
    counts = ingest(service, files, every=_POLL_SECONDS / 10)  # few polls, since it ends quickly
    seconds = time.perf_counter() - started
    after = _work_done(service)
    assert counts["unchanged"] == len(files), counts
    return Again(
        seconds=seconds,
        upload=seconds_to_receive(files),
        embedding_calls=after[0] - before[0],
        parser_runs=after[1] - before[1],
    )


def _work_done(service: Service) -> tuple[int, int]:
    """Number of embedder calls and parser runs since the service started."""
    metrics = service.http.get("/metrics").raise_for_status().text
    return (
        _total(metrics, r"rag_ingest_embedding_calls_total\{[^}]*\}"),
        _total(metrics, r'rag_ingest_stage_seconds_count\{[^}]*stage="extract"[^}]*\}'),
    )


def _total(metrics: str, name: str) -> int:
    return sum(int(float(value)) for value in re.findall(rf"^{name} (\S+)$", metrics, re.M))


def growth_of_one_large_request(server: Server, *, files: int) -> int:
    """The largest growth of the resident memory, in bytes, during one request with many files."""
    with (
        server.database("end_to_end_memory", migrated=True) as dsn,
        _service(dsn, INGEST_WORKER="false") as service,
    ):
        service.upload(text_files(10, seed=-3))
        uploaded = text_files(files, seed=-4, size=1000)
        status = Path(f"/proc/{service.process.pid}")
        (status / "clear_refs").write_text("5")  # reset the peak
        before = _peak(status)
        service.upload(uploaded)
        return _peak(status) - before


def _peak(process: Path) -> int:
    [line] = [
        line for line in (process / "status").read_text().splitlines() if line.startswith("VmHWM")
    ]
    return int(line.split()[1]) * 1024
