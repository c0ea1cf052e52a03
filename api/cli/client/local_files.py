"""Which files a command line names, and the path under which the service stores each.

The path is the file's identity, so it must be the same in the next run. It is the path as typed
(`docs/a.md`), without the parents of the named folder if that was typed absolute or with `..`
(`/home/me/docs` gives `docs/a.md`), and without `.` (`ingest upload .` gives `a.md`).
"""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final, Self

from api.cli import data_folder
from api.cli.output import CommandError
from api.upload.paths import decode_filename, normalise

_DATA_FOLDER: Final = "the data folder of a service"


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalFile:
    path: Path
    """The path on this machine."""
    name: str
    """The name that is sent, normalised as by the service; `%` and two hex digits for every byte
    that is not UTF-8."""
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    path: str
    reason: str
    """`hidden`, `symlink loop`, `not a file`, `the data folder of a service`, or an OS error."""
    is_failure: bool = False
    """Whether the user expects the file to be uploaded."""

    @classmethod
    def unreadable(cls, path: Path, error: OSError) -> Self:
        return cls(path=str(path), reason=error.strerror or "unreadable", is_failure=True)


@dataclass(slots=True, kw_only=True)
class FoundFiles:
    files: list[LocalFile] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


def find_files(paths: Sequence[Path]) -> FoundFiles:
    """Find the named files, and all files in named folders sorted by name, without duplicates.

    Raises CommandError when a path does not exist, or two files would have the same name.
    """
    found = FoundFiles()
    for path in paths:
        if not path.exists():
            raise CommandError(f"{path} does not exist")
        name = _base_name(path)
        if path.is_dir():
            _walk(path, name, found)
        else:
            _add(path, name, found)
    found.files = _distinct(found.files)
    return found


def _base_name(path: Path) -> PurePosixPath:
    """The name of a file, or the part that the names of all files in a folder share."""
    if path.is_absolute() or ".." in path.parts:
        return PurePosixPath(path.resolve().name)
    return PurePosixPath(path)


def _walk(folder: Path, name: PurePosixPath, found: FoundFiles) -> None:
    """Depth first, with a list instead of recursion: nesting has no limit."""
    above: dict[Path, frozenset[tuple[int, int]]] = {folder: frozenset()}
    pending = [(folder, name)]
    while pending:
        here, here_name = pending.pop()
        ancestors = above.pop(here)
        if data_folder.is_data_dir(here):
            # Otherwise `upload .` in its parent folder would make the operator key searchable.
            found.skipped.append(Skipped(path=str(here), reason=_DATA_FOLDER))
            continue
        try:
            status = here.stat()
            identity = (status.st_dev, status.st_ino)
            if identity in ancestors:
                found.skipped.append(Skipped(path=str(here), reason="symlink loop"))
                continue
            entries = sorted(os.scandir(here), key=lambda entry: entry.name)
        except OSError as error:
            found.skipped.append(Skipped.unreadable(here, error))
            continue
        folders = []
        for entry in entries:
            path, entry_name = here / entry.name, here_name / entry.name
            if entry.name.startswith("."):
                found.skipped.append(Skipped(path=str(path), reason="hidden"))
            elif _is_folder(path):
                above[path] = ancestors | {identity}
                folders.append((path, entry_name))
            else:
                _add(path, entry_name, found)
        pending.extend(reversed(folders))


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a link to itself
        return False


def _add(path: Path, name: PurePosixPath, found: FoundFiles) -> None:
    if data_folder.is_data_dir(path.parent):
        found.skipped.append(Skipped(path=str(path), reason=_DATA_FOLDER, is_failure=True))
        return
    try:
        status = path.stat()
    except OSError as error:
        found.skipped.append(Skipped.unreadable(path, error))
        return
    if stat.S_ISREG(status.st_mode):
        found.files.append(LocalFile(path=path, name=_service_name(name), size=status.st_size))
    else:
        found.skipped.append(Skipped(path=str(path), reason="not a file"))


def _service_name(name: PurePosixPath) -> str:
    decoded = decode_filename(os.fsencode(name))
    try:
        return normalise(decoded)
    except ValueError:  # the service will report it
        return decoded


def _distinct(files: Sequence[LocalFile]) -> list[LocalFile]:
    by_name: dict[str, LocalFile] = {}
    for file in files:
        known = by_name.setdefault(file.name, file)
        if known is not file and known.path.resolve() != file.path.resolve():
            raise CommandError(
                f"{known.path} and {file.path} would both be stored as {file.name}: upload the "
                "folder that contains both"
            )
    return list(by_name.values())


def split(files: Sequence[LocalFile], *, count: int, size: int) -> Iterator[list[LocalFile]]:
    """The files in order, up to `count` and about `size` bytes per list; a larger file alone."""
    part: list[LocalFile] = []
    part_size = 0
    for file in files:
        if part and (len(part) == count or part_size + file.size > size):
            yield part
            part, part_size = [], 0
        part.append(file)
        part_size += file.size
    if part:
        yield part
