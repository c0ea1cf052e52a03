"""The contestants: this project's service, the bare script, and the peers' scripts."""

import asyncio
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psycopg

from benchmarks.core.environments import Peer, python_of, run_script
from benchmarks.core.options import Options
from benchmarks.core.postgres import Server, url
from benchmarks.core.texts import text_files
from benchmarks.provider import bare
from benchmarks.provider.endpoint import ProviderProcess
from benchmarks.provider.server import DIMENSION, Counts
from benchmarks.provider.work import MODEL, Work
from harness.service import Service, services, until

CONCURRENCY = "32"
_PATIENCE_SECONDS = 600.0
_WARM_UP = 4


@dataclass(frozen=True, slots=True)
class Run:
    seconds: float
    chunks: int
    """Stored rows."""
    counts: Counts
    """As counted by the endpoint."""


Contestant = Callable[[], Run]


def ours(server: Server, provider: ProviderProcess, work: Work) -> Run:
    """Seconds from the first byte of the upload (one request) until every file is searchable."""
    settings = {
        "INGEST_EMBEDDER": "openai",
        "OPENAI_BASE_URL": provider.url,
        "OPENAI_API_KEY": "sk-bench",
        "INGEST_EMBEDDING_MODEL": MODEL,
        "INGEST_EMBEDDING_DIMENSIONS": str(DIMENSION),
        "INGEST_WORKER_CONCURRENCY": CONCURRENCY,
    }
    with (
        server.database("provider_ours", migrated=True) as dsn,
        tempfile.TemporaryDirectory() as data,
        services(data=Path(data), env={"DATABASE_URL": dsn, **settings}) as start,
    ):
        service = start("serve").wait_until_ready()
        _ingest(service, text_files(_WARM_UP, seed=-1))
        before = _chunks(dsn)
        server.settle()
        provider.reset()
        files = [(file.name, file.read_bytes()) for file in work.files]
        seconds = _ingest(service, files)
        return Run(seconds, _chunks(dsn) - before, provider.counts())


def script(server: Server, provider: ProviderProcess, work: Work) -> Run:
    """Run the bare script."""
    with server.database("provider_bare") as dsn:
        server.settle()
        provider.reset()
        seconds, chunks = asyncio.run(bare.run(work.files, dsn=dsn, base_url=provider.url))
        return Run(seconds, chunks, provider.counts())


def peer_run(
    server: Server, provider: ProviderProcess, work: Work, *, peer: Peer, python: Path
) -> Run:
    """Run a peer's script. Raises Unavailable."""
    with server.database("provider_peer") as dsn:
        server.settle()
        provider.reset()
        arguments = work.arguments(url=url(dsn), base_url=provider.url)
        answer = run_script([python, peer.script], arguments, timeout=_PATIENCE_SECONDS)
        return Run(answer["seconds"], answer["chunks"], provider.counts())


def of_peer(
    peer: Peer, server: Server, provider: ProviderProcess, work: Work, options: Options
) -> Contestant:
    """A peer as a contestant. Raises Unavailable if its environment cannot be created."""
    python = python_of(peer, environments=options.environments)
    return partial(peer_run, server, provider, work, peer=peer, python=python)


def _ingest(service: Service, files: list[tuple[str, bytes]]) -> float:
    started = time.perf_counter()
    batch = service.upload(files)["batchId"]

    def has_ended() -> bool:
        counts = service.get(f"/api/batches/{batch}")
        assert not counts["failed"], counts
        return bool(counts["completed"] == len(files))

    until(has_ended, within=_PATIENCE_SECONDS, every=0.1)
    return time.perf_counter() - started


def _chunks(dsn: str) -> int:
    with psycopg.connect(dsn) as conn:
        row = conn.execute("select count(*) from rag.chunks").fetchone()
    assert row is not None
    return int(row[0])
