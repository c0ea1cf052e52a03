"""Temporary folders: deleted at the end of their block, swept after a kill."""

import asyncio
import os
import shutil
import stat
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
    folder = new_scratch_folder()
    try:
        yield folder
    finally:
        # Usually the folder is empty. Use a thread only if there are files to remove.
        try:
            os.rmdir(folder)
        except OSError:
            await asyncio.to_thread(remove, folder)


def new_scratch_folder() -> Path:
    """A folder as above, which the caller removes."""
    return Path(tempfile.mkdtemp(prefix=_PREFIX))


def remove(folder: Path) -> None:
    """Remove a folder with everything in it, even if a hostile process filled it."""
    shutil.rmtree(folder, ignore_errors=True)
    if not folder.exists():
        return
    # Folders without permissions cannot be listed. A folder is visited after its mode was set.
    folder.chmod(stat.S_IRWXU)
    for parent, folders, _ in os.walk(folder):
        for path in (os.path.join(parent, name) for name in folders):
            if not os.path.islink(path):
                os.chmod(path, stat.S_IRWXU)
    shutil.rmtree(folder, ignore_errors=True)


def empty(folder: Path) -> None:
    """Remove everything in a folder."""
    for left in os.scandir(folder):
        if left.is_dir(follow_symlinks=False):
            remove(Path(left.path))
        else:
            os.unlink(left.path)


def sweep(*, older_than: timedelta) -> int:
    """Remove folders of killed processes, too old to be in use; returns how many."""
    border = time.time() - older_than.total_seconds()
    old = [
        folder
        for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*")
        if _is_ours_since_before(folder, border)
    ]
    for folder in old:
        remove(folder)
    return len(old)


def _is_ours_since_before(folder: Path, border: float) -> bool:
    try:
        state = folder.lstat()
    except FileNotFoundError:
        return False
    return state.st_uid == os.getuid() and state.st_mtime < border
