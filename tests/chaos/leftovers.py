"""What runs leave behind: blobs without a row, temporary files, descriptors, processes."""

import asyncio
import os
import tempfile
import time
from collections import Counter
from collections.abc import Collection
from datetime import timedelta
from pathlib import Path
from typing import Final

from harness.pools import pool_across_applications
from ingest import temporary_folders
from ingest.blobs.local import LocalBlobStore
from ingest.ticks.cleanup import sweep_blobs
from ingest.ticks.recovery import complete_batches, reconcile_sources
from tests.chaos import host
from tests.chaos.checks import Problem
from tests.chaos.installation import Installation

_MORE_FILES: Final = 40
"""Descriptors that a process may have more of after the faults: idle connections of its pools."""
_PARSERS_END: Final = 20.0
"""Seconds after which files of killed parsers count as left behind."""


async def _with_pool(on: Installation, *, sweep: bool) -> int:
    async with pool_across_applications(on.postgres.dsn, size=2, application_name="chaos") as pool:
        if not sweep:
            return await complete_batches(pool) + await reconcile_sources(pool)
        blobs = LocalBlobStore(on.blobs)
        try:
            return await sweep_blobs(pool, blobs, older_than=timedelta(0))
        finally:
            await blobs.close()


def fire_ticks(on: Installation) -> None:
    """The ticks of each minute that settle what was left: batches and sources."""
    asyncio.run(_with_pool(on, sweep=False))


def check_blobs(on: Installation) -> tuple[list[Problem], int]:
    """Each blob that a row names is there, and after a sweep no other; how many were swept."""
    swept = asyncio.run(_with_pool(on, sweep=True))
    named = {
        key
        for (key,) in on.postgres.rows(
            "select blob_key from rag.knowledge_sources where blob_key is not null "
            "and deleted_at is null "
            "union select blob_key from rag.job_files where is_file_job "
            "and blob_key is not null and status in ('failed', 'cancelled', 'review_needed') "
            "union select blob_key from rag.webhook_events where blob_key is not null"
        )
    }
    needed = {
        key
        for (key,) in on.postgres.rows(
            "select blob_key from rag.knowledge_sources where blob_key is not null "
            "and deleted_at is null"
        )
    }
    files = {str(path.relative_to(on.blobs)) for path in on.blobs.rglob("*") if path.is_file()}
    problems = []
    if missing := needed - files:
        problems.append(("lost", f"{len(missing)} blobs are gone: {sorted(missing)[:3]}"))
    if orphans := files - named:
        problems.append(
            ("leaked", f"{len(orphans)} blobs belong to nothing: {sorted(orphans)[:3]}")
        )
    return problems, swept


def descriptors(on: Installation) -> dict[int, Counter[str]]:
    """What each process of the service has open, by kind."""
    return {
        process.process.pid: Counter(map(_kind, host.open_files(process.process.pid)))
        for process in on.processes
    }


def check_descriptors(
    before: dict[int, Counter[str]], now: dict[int, Counter[str]]
) -> list[Problem]:
    """Processes that were not restarted may have no more open than before, but for their pools."""
    problems = []
    for pid, files in now.items():
        if files["deleted file"]:
            problems.append(("leaked", f"{pid} keeps deleted files open: {files}"))
        if pid in before and files.total() > before[pid].total() + _MORE_FILES:
            problems.append(("leaked", f"{pid} had {before[pid]} open, and has {files}"))
    return problems


def check_temporary(folder: Path) -> list[Problem]:
    """After the sweep that follows kills there is no temporary file left.

    Parsers of a killed worker end a moment after it, so it sweeps until there is nothing.
    """
    usual, tempfile.tempdir = tempfile.tempdir, str(folder)
    deadline = time.monotonic() + _PARSERS_END
    try:
        while left := sorted(path.name for path in folder.iterdir()):
            # Of whatever age: those of a process whose clock was ahead are of tomorrow.
            temporary_folders.sweep(older_than=timedelta(days=-1))
            if time.monotonic() > deadline:
                return [("leaked", f"temporary files: {left[:5]}")]
            time.sleep(0.1)
    finally:
        tempfile.tempdir = usual
    return []


def check_processes(known: Collection[int] = ()) -> list[Problem]:
    """Orphans are adopted by this process: after the end of a run there is none but those known."""
    host.reap()
    # Two looks, since the kernel may leave out a child while another one ends.
    looks = [host.descendants(os.getpid()) for _ in range(2)]
    found = set().union(*looks) - set(known)
    left = {pid: said for pid in found if (said := host.program(pid))}
    return [("leaked", f"processes: {left}")] if left else []


def _kind(target: str) -> str:
    if target.endswith("(deleted)"):
        return "memory" if target.startswith(("/memfd", "/dev/shm")) else "deleted file"
    return target.partition(":")[0] if ":" in target else "file"
