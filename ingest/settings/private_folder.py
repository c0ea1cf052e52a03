"""The data folder is closed to other accounts: it holds the operator key, files and database."""

import os
import re
import stat
from pathlib import Path
from typing import Final

import structlog

log = structlog.get_logger()

_PUBLIC: Final = stat.S_IRWXG | stat.S_IRWXO
# A folder with anything else in it may be one like /srv that other programs need, and stays open.
_OURS: Final = re.compile(
    r"admin\.key(\.\w+)*|server\.json(\.\d+)?|postgres|blobs|downloads|lost\+found"
)


def keep_private(folder: Path) -> None:
    """Create only private files in this process from now on, and close what exists.

    Folders are closed, but not each blob: all were created with 0600, and may be millions. The
    database closes its own files. A folder that cannot be closed is logged, and used.
    """
    os.umask(_PUBLIC)
    strangers = [entry.name for entry in _entries(folder) if not _OURS.fullmatch(entry.name)]
    if not strangers:
        _close(folder)
    elif folder.stat().st_mode & _PUBLIC:
        log.warning("data_folder.not_private", folder=str(folder), contains=strangers[:3])
    for entry in _entries(folder):
        if _OURS.fullmatch(entry.name) and not entry.is_symlink():
            _close(Path(entry))
            for inner in _entries(Path(entry)) if entry.is_dir() else ():
                if not inner.is_symlink():
                    _close(Path(inner))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:  # missing, or not readable: whatever needs it says so
        return []


def _close(path: Path) -> None:
    try:
        mode = path.stat().st_mode
        if mode & _PUBLIC:
            path.chmod(stat.S_IMODE(mode) & ~_PUBLIC)
    except FileNotFoundError:  # a process that ended has removed it
        return
    except OSError as error:
        # A volume that belongs to root and is given to us by its group is as private as its host.
        if mode & stat.S_IRWXO:
            log.warning("data_folder.not_private", folder=str(path), error=error.strerror)
