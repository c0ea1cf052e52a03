"""Temporary folders: deleted at the end of their block, swept after a kill."""

import asyncio
import os
import stat
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

_PREFIX = "rag-ingest-scratch-"


@asynccontextmanager
async def scratch_folder() -> AsyncIterator[Path]:
    """An empty folder that only this user can read."""
    async with _removed(new_scratch_folder()) as folder:
        yield folder


@asynccontextmanager
async def unmade_scratch_folder() -> AsyncIterator[Path]:
    """Where to make such a folder if it is needed: most files have none inside."""
    async with _removed(Path(tempfile.gettempdir(), _PREFIX + uuid4().hex)) as folder:
        yield folder


@asynccontextmanager
async def _removed(folder: Path) -> AsyncIterator[Path]:
    try:
        yield folder
    finally:
        # Usually the folder is empty. Use a thread only if there are files to remove.
        try:
            os.rmdir(folder)
        except FileNotFoundError:
            pass
        except OSError:
            await asyncio.to_thread(remove, folder)


def new_scratch_folder() -> Path:
    """A folder as above, which the caller removes."""
    return Path(tempfile.mkdtemp(prefix=_PREFIX))


def remove(folder: Path) -> None:
    """Remove a folder with everything in it, even if a hostile process filled it."""
    empty(folder)
    with suppress(OSError):
        os.rmdir(folder)


def empty(folder: Path) -> None:
    """Remove everything in a folder, as far as possible.

    A hostile process may nest folders deeper than a path may be long: inner ones are moved up.
    """
    waiting = [str(folder)]
    while waiting:
        at = waiting.pop()
        with suppress(OSError):
            for entry in _entries(at):
                if not entry.is_dir(follow_symlinks=False):
                    with suppress(OSError):
                        os.unlink(entry.path)
                    continue
                target = f"{folder}/{uuid4().hex}"
                with suppress(OSError):
                    # Without permissions it could be neither moved nor listed.
                    os.chmod(entry.path, stat.S_IRWXU)
                    os.rename(entry.path, target)
                    waiting.append(target)
            if at != str(folder):
                os.rmdir(at)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return list(entries)


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
