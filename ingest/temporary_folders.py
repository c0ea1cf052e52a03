"""Temporary folders: deleted at the end of their block, swept after a kill."""

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

_PREFIX = "rag-ingest-scratch-"


@asynccontextmanager
async def scratch_folder() -> AsyncIterator[Path]:
    """An empty folder that only this user can read."""
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    try:
        yield folder
    finally:
        # Usually the folder is empty. Use a thread only if there are files to remove.
        try:
            os.rmdir(folder)
        except OSError:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def empty(folder: Path) -> None:
    """Remove the files in a folder without subfolders."""
    for left in folder.iterdir():
        left.unlink()


def sweep(*, older_than: timedelta) -> int:
    """Remove folders of killed processes, too old to be in use; returns how many."""
    border = time.time() - older_than.total_seconds()
    old = [
        folder
        for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*")
        if _is_ours_since_before(folder, border)
    ]
    for folder in old:
        shutil.rmtree(folder, ignore_errors=True)
    return len(old)


def _is_ours_since_before(folder: Path, border: float) -> bool:
    try:
        state = folder.lstat()
    except FileNotFoundError:
        return False
    return state.st_uid == os.getuid() and state.st_mtime < border
