"""Files inside a file: stored in a folder under numbers, identified by safe paths."""

import errno
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from ingest import storable_text
from ingest.errors import Permanent, Transient
from ingest.model import Member

_BLOCK = 256 * 1024
_LONGEST_PART = 200
_LONGEST_PATH = 1000
_LONGEST_NUMBERED = 2 * _LONGEST_PATH
_NUMBER = re.compile(r" \(\d+\)(?=(?:\.[^.]*)?\Z)")
_DRIVE = re.compile(r"\A[A-Za-z]:")
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
_UNNAMED = "unnamed"


def safe_path(path: str) -> str:
    """The path made relative: `/`-separated, on one line, storable, without `.` and `..`."""
    return _relative(path)[-_LONGEST_PATH:].strip("/ ")


def is_safe_path(path: str) -> bool:
    """Whether `path` is relative and safe."""
    return path != "" and len(path) <= _LONGEST_NUMBERED and path == _relative(path)


def _relative(path: str) -> str:
    cleaned = " ".join(storable_text.clean(path)[0].split())
    relative = _DRIVE.sub("", cleaned.replace("\\", "/"))
    parts = [part.strip()[:_LONGEST_PART].strip() for part in relative.split("/")]
    return "/".join(part for part in parts if part not in ("", ".", ".."))


def escapes_folder(path: str) -> bool:
    """Whether a path would escape the folder it is unpacked to, which only attacks do."""
    return ".." in path.replace("\\", "/").split("/")


@contextmanager
def room_on_disk() -> Iterator[None]:
    """Raises Transient instead of the OSError of a full disk."""
    try:
        yield
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise Transient(
                "There is no disk space to unpack the file.", code="internal"
            ) from error
        raise


class FolderSink:
    """Writes members into an empty folder, which the first one makes, in constant memory."""

    def __init__(
        self, folder: Path, *, max_members: int, max_bytes: int, max_member_bytes: int
    ) -> None:
        self._folder = folder
        self._max_members = max_members
        self._bytes_left = max_bytes
        self._max_bytes = max_bytes
        self.max_member_bytes = max_member_bytes
        self._files: set[str] = set()
        self._folders: set[str] = set()
        self._numbers: Counter[str] = Counter()
        self.members: list[Member] = []

    @property
    def is_empty(self) -> bool:
        """Whether there are no members."""
        return not self.members

    def add(self, path: str, data: bytes | BinaryIO) -> str | None:
        """Store a file. Returns its final path, or None if the file is too large.

        Raises Permanent: `archive_unsafe` (too many members), `too_large` (all of them together).
        Raises Transient if the disk is full.
        """
        self.expect(1)
        file = str(len(self.members))
        with room_on_disk():
            fits = self._write(self._folder / file, data)
        if not fits:
            self.refuse(
                path, code="too_large", message=f"It is larger than {self.max_member_bytes} bytes."
            )
            return None
        member = Member(path=self._unique_path(path), file=file)
        self.members.append(member)
        return member.path

    def expect(self, count: int) -> None:
        """Raises Permanent `archive_unsafe` if `count` more members are too many."""
        if len(self.members) + count > self._max_members:
            raise Permanent(
                f"It contains more than {self._max_members} files.", code="archive_unsafe"
            )

    def refuse(self, path: str, *, code: str, message: str) -> None:
        """Record a member that cannot be read."""
        self.expect(1)
        self.members.append(
            Member(path=self._unique_path(path), file="", code=code, message=message)
        )

    def _write(self, target: Path, data: bytes | BinaryIO) -> bool:
        source = io.BytesIO(data) if isinstance(data, bytes) else data
        size = 0
        self._folder.mkdir(exist_ok=True)
        try:
            with target.open("xb") as file:
                while block := source.read(_BLOCK):
                    size += len(block)
                    if size > self.max_member_bytes:
                        target.unlink()
                        return False
                    if size > self._bytes_left:
                        raise Permanent(
                            f"Its files have more than {self._max_bytes} bytes in total.",
                            code="too_large",
                        )
                    file.write(block)
        except BaseException:
            target.unlink(missing_ok=True)
            raise
        self._bytes_left -= size
        return True

    def _unique_path(self, path: str) -> str:
        """A path that no other file and no folder has.

        Files inside a member get paths below the member's path, so a folder of the same name
        would mix the two.
        """
        parts = (safe_path(path) or _UNNAMED).split("/")
        for depth in range(1, len(parts)):
            while "/".join(parts[:depth]) in self._files:
                parts[depth - 1] = self._numbered(parts[:depth])
        while (wanted := "/".join(parts)) in self._files or wanted in self._folders:
            parts[-1] = self._numbered(parts)
        self._folders.update("/".join(parts[:depth]) for depth in range(1, len(parts)))
        self._files.add(wanted)
        return wanted

    def _numbered(self, parts: Sequence[str]) -> str:
        """The last part with the next number; the counter is kept, as there may be thousands."""
        plain = PurePosixPath(_NUMBER.sub("", parts[-1]))
        key = "/".join([*parts[:-1], str(plain)])
        self._numbers[key] = max(2, self._numbers[key] + 1)
        # Shorter than the limit for a part, so that the number is never cut off.
        stem, suffix = plain.stem[: _LONGEST_PART // 2], plain.suffix[: _LONGEST_PART // 4]
        return f"{stem} ({self._numbers[key]}){suffix}"
