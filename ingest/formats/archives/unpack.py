"""Unpacks archives: ZIP and TAR, also compressed, one member after the other.

No file is written under its name in the archive, links are not followed, and sizes in headers are
not trusted. A member that cannot be read is recorded; the rest are kept.
"""

import lzma
import struct
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import IO, BinaryIO, Self, cast

from ingest.errors import Permanent, Transient
from ingest.formats import catalog
from ingest.formats import media_types as types
from ingest.formats.archives import zip_names
from ingest.formats.archives.compressed import Content, content_of
from ingest.formats.archives.inflation import InflationBudget, LimitedStream, file_size
from ingest.formats.archives.members import FolderSink, escapes_folder
from ingest.formats.archives.zip_member import open_member
from ingest.formats.detect.zip import LARGEST_DIRECTORY, directory_size

_ZIP_RATIO_FROM = 256 * 1024 * 1024  # bytes, all members together
_LEADING = frozenset({b"x", b"g", b"X", b"L", b"K"})  # extended headers; tarfile reads them whole
_LONGEST_LEADING = 1024 * 1024  # bytes
_SYSTEM_FILES = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
_DAMAGED = "It is damaged and could not be read."
_REST = "(the rest of the archive)"
_BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    lzma.LZMAError,
    EOFError,
    OSError,
    ValueError,
    zlib.error,
    struct.error,
    NotImplementedError,
    RuntimeError,
)


def unpack(
    file: BinaryIO, *, name: str, sink: FolderSink, on_member: Callable[[], None]
) -> dict[str, int]:
    """Put all members into the sink. Returns how many entries were skipped, by kind.

    Kinds: `link`, `device`, `system` (files that operating systems add). `on_member` is called
    after each member. Raises Permanent: `unsupported_type` (not an archive), `archive_unsafe`,
    `encrypted` (all members), `corrupt`, `too_large`, `empty_content`.
    """
    skipped: Counter[str] = Counter()
    unpacker = _Unpacker(sink, skipped, on_member)
    with content_of(file, name=name, max_bytes=sink.max_member_bytes) as content:
        if content.sniffed.media_type == types.ZIP:
            unpacker.zip(content.stream)
        elif content.sniffed.media_type == types.TAR:
            unpacker.tar(content.stream)
        elif content.is_inflated:  # in a job of a version that took it for an archive
            unpacker.file(content)
        else:
            what = catalog.label(content.sniffed.media_type)
            raise Permanent(f"This is {what}, not an archive.", code="unsupported_type")
    _check(sink)
    return dict(skipped)


def _check(sink: FolderSink) -> None:
    """Raises Permanent if there are no members, or all are encrypted or all damaged."""
    if not sink.members:
        raise Permanent("The archive is empty.", code="empty_content")
    codes = {member.code for member in sink.members}
    if codes == {"encrypted"}:
        raise Permanent("The archive is protected by a password.", code="encrypted")
    if codes == {"corrupt"}:
        raise Permanent("The archive is damaged.", code="corrupt")


class _Unpacker:
    def __init__(
        self, sink: FolderSink, skipped: Counter[str], on_member: Callable[[], None]
    ) -> None:
        self._sink = sink
        self._skipped = skipped
        self._on_member = on_member

    def zip(self, file: BinaryIO) -> None:
        if directory_size(file) > LARGEST_DIRECTORY:
            raise Permanent("It contains too many files.", code="archive_unsafe")
        # Members may share packed bytes. Then each ratio is plausible, but not the ratio of all
        # together.
        whole = InflationBudget(packed=file_size(file), at_least=_ZIP_RATIO_FROM)
        with _damage_as_error():
            archive = zipfile.ZipFile(file)
        with archive:
            members = archive.infolist()
            names = zip_names.names(members)
            wanted = [
                (member, path)
                for member, path in zip(members, names, strict=True)
                if self._is_file(member, path) and self._is_wanted(path)
            ]
            self._sink.expect(len(wanted))
            for member, path in wanted:
                self._zip_member(archive, member, path, whole)

    def _is_file(self, member: zipfile.ZipInfo, path: str) -> bool:
        if member.filename.endswith("/") or path.endswith("/"):  # is_dir() fails without a name
            return False
        if ((member.external_attr >> 16) & 0o170000) == 0o120000:
            self._skipped["link"] += 1
            return False
        return True

    def _zip_member(
        self,
        archive: zipfile.ZipFile,
        member: zipfile.ZipInfo,
        path: str,
        whole: InflationBudget,
    ) -> None:
        if member.flag_bits & 0x1:
            self._sink.refuse(path, code="encrypted", message="It is protected by a password.")
            return
        try:
            with open_member(archive, member) as part:
                own = InflationBudget(packed=member.compress_size)
                self._add(path, LimitedStream(part, own, whole))
        except _BROKEN:
            self._sink.refuse(path, code="corrupt", message=_DAMAGED)

    def tar(self, file: IO[bytes]) -> None:
        try:
            with tarfile.open(fileobj=file, mode="r|", tarinfo=_TarHeader) as archive:
                for member in archive:
                    self._tar_member(archive, member)
        except _BROKEN:
            # Members are stored one after the other, so those before the damage are complete.
            self._sink.refuse(_REST, code="corrupt", message=_DAMAGED)

    def _tar_member(self, archive: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        if member.isdir():
            return
        if not member.isreg():
            self._skipped["link" if member.issym() or member.islnk() else "device"] += 1
        elif self._is_wanted(member.name):
            part = archive.extractfile(member)
            if part is not None:
                # Holes of a sparse file are not stored, so they count as inflated.
                holes = [InflationBudget(packed=_written(member))] if member.issparse() else []
                self._add(member.name, LimitedStream(part, *holes))

    def file(self, content: Content) -> None:
        self._sink.add(PurePosixPath(content.name or "").name, content.stream)
        self._on_member()

    def _add(self, path: str, data: LimitedStream) -> None:
        self._sink.add(path, cast(BinaryIO, data))
        self._on_member()

    def _is_wanted(self, path: str) -> bool:
        if escapes_folder(path):
            raise Permanent(
                "A file path in the archive leads outside the archive.", code="archive_unsafe"
            )
        parts = path.replace("\\", "/").split("/")
        if parts[0] == "__MACOSX" or parts[-1] in _SYSTEM_FILES:
            self._skipped["system"] += 1
            return False
        return True


class _TarHeader(tarfile.TarInfo):
    """Raises an error for a damaged header, which tarfile takes for the end of the archive."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        try:
            header = super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if not buf.strip(b"\0"):  # the regular end
                raise
            raise tarfile.ReadError("a damaged header") from error
        if header.type in _LEADING and header.size > _LONGEST_LEADING:
            raise tarfile.ReadError("a header that fills memory")
        return header


def _written(member: tarfile.TarInfo) -> int:
    """Bytes of a sparse file outside its holes."""
    parts = cast(list[tuple[int, int]], member.sparse or [])  # offset and size
    return sum(size for _, size in parts)


@contextmanager
def _damage_as_error() -> Iterator[None]:
    try:
        yield
    except (Permanent, Transient, MemoryError):
        raise
    except Exception as error:
        raise Permanent("The archive is damaged.", code="corrupt") from error
