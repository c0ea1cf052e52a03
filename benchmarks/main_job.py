"""The main job against a hand-written script on the same Postgres, in alternating rounds.

    python -m benchmarks.main_job [--files 1000] [--rounds 3]

Both extract, chunk and embed the same text files (static embedder) and store text, chunks and
vectors under an HNSW index. The script does nothing else: no upload, no queue, no events, no fence.
Prints files per second as a ratio, where the service's time goes, and its memory while 4,000 files
come in with one request.
"""

import argparse
import random
import re
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any

import psycopg

from benchmarks.bare_script import BareScript
from ingest.embedded import EmbeddedPostgres
from tests.acceptance.service import Service, services

MIB = 1024 * 1024


def text_files(count: int, *, seed: int, size: int = 7500) -> list[tuple[str, bytes]]:
    """`count` different files of about `size` bytes: sentences of Python's own manual, shuffled."""
    rng = random.Random(seed)
    manual = " ".join(" ".join(topics.values()).split())
    sentences = [sentence for sentence in re.split(r"(?<=[.:]) ", manual) if len(sentence) > 30]
    files = []
    for number in range(count):
        parts = [f"# Document {number} of round {seed}\n\n"]
        while sum(map(len, parts)) < size:
            parts.append(rng.choice(sentences) + ("\n\n" if rng.random() < 0.15 else " "))
        files.append((f"round-{seed}/{number}.md", "".join(parts).encode()))
    return files


@contextmanager
def _installation(**env: str) -> Iterator[tuple[str, Service]]:
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddedPostgres(Path(folder) / "server") as dsn,
    ):
        data = Path(folder) / "data"
        data.mkdir()
        with services(data=data, env={"DATABASE_URL": dsn, **env}) as start:
            yield dsn, start("serve").wait_until_ready()


def ingest(service: Service, files: list[tuple[str, bytes]]) -> float:
    """Seconds from the upload's first byte until every file is terminal."""
    started = time.perf_counter()
    batch = service.upload(files)["batchId"]
    while True:
        counts = service.get(f"/api/batches/{batch}")
        if not counts["pending"] and not counts["processing"]:
            break
        time.sleep(0.5)
    assert counts["completed"] == len(files), counts
    return time.perf_counter() - started


def stage_shares(dsn: str) -> dict[str, float]:
    """The share of each stage in the time that attempts took."""
    with psycopg.connect(dsn) as conn:
        rows = conn.execute(
            "select stage, sum(duration_ms) from rag.job_logs "
            "where duration_ms is not null group by 1"
        ).fetchall()
        [(total,)] = conn.execute(
            "select extract(epoch from sum(completed_at - started_at)) * 1000 "
            "from rag.processing_jobs where status = 'completed' and type = 'file'"
        ).fetchall()
    shares = {stage: float(spent) / float(total) for stage, spent in rows}
    return {**shares, "waiting for slots, parsers and commits": 1 - sum(shares.values())}


def peak_memory(service: Service) -> int:
    """The most resident bytes of a process since `forget_peak`."""
    status = Path(f"/proc/{service.process.pid}/status").read_text()
    [line] = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


def compare(files: int, rounds: int) -> None:
    ours, bare = [], []
    with _installation(INGEST_WORKER_CONCURRENCY="16") as (dsn, service):
        ingest(service, text_files(50, seed=-1))
        script = BareScript(dsn)
        script.run(text_files(50, seed=-2))
        for number in range(rounds):
            ours.append(files / ingest(service, text_files(files, seed=2 * number)))
            bare.append(files / script.run(text_files(files, seed=2 * number + 1)))
            print(f"round {number + 1}: service {ours[-1]:.0f}/s, script {bare[-1]:.0f}/s")
        ratio = statistics.median(ours) / statistics.median(bare)
        print(f"files/s, service to script (median of {rounds}): {ratio:.2f}")
        print(f"chunks per file: {script.chunks / script.files:.1f}")
        for stage, share in stage_shares(dsn).items():
            print(f"  {stage}: {share:.0%}")


def forget_peak(service: Service) -> int:
    """Begin to measure the peak anew; the resident bytes of now."""
    Path(f"/proc/{service.process.pid}/clear_refs").write_text("5")
    return peak_memory(service)


def memory_of_one_large_request(files: int) -> None:
    with _installation(INGEST_WORKER="false") as (_, service):
        service.upload(text_files(10, seed=-3))
        before = forget_peak(service)
        service.upload(text_files(files, seed=-4, size=1000))
        small = peak_memory(service) - before
        before = forget_peak(service)
        service.upload([("large.bin", b"x" * 512 * MIB)])
        large = peak_memory(service) - before
    print(f"peak memory: {files} files in one request +{small / MIB:.0f} MiB")
    print(f"peak memory: one file of 512 MiB +{large / MIB:.0f} MiB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments: Any = parser.parse_args()
    memory_of_one_large_request(4 * arguments.files)
    compare(arguments.files, arguments.rounds)


if __name__ == "__main__":
    main()
