"""Unpacks archives: ZIP, TAR and compressed files, one member after the other.

No file is written under its name in the archive, links are not followed, and sizes in headers are
not trusted. A member that cannot be read is recorded; the rest are kept.
"""

import bz2
import gzip
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
from ingest.formats.archives.members import FolderSink, escapes_folder
from ingest.formats.archives.zip_member import open_member
from ingest.formats.detect.sniff import sniff
from ingest.formats.detect.zip import LARGEST_DIRECTORY, directory_size

_RATIO = 200  # inflated to packed size; real files stay below 60
_RATIO_FROM = 32 * 1024 * 1024  # bytes
_ZIP_RATIO_FROM = 256 * 1024 * 1024  # bytes, all members together
_TAR_BLOCK = 512
_LEADING = frozenset({b"x", b"g", b"X", b"L", b"K"})  # extended headers; tarfile reads them whole
_LONGEST_LEADING = 1024 * 1024  # bytes
_SYSTEM_FILES = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
_DAMAGED = "It is damaged and could not be read."
_REST = "(the rest of the archive)"
_STREAMS: dict[str, Callable[[BinaryIO], IO[bytes]]] = {
    types.GZIP: lambda file: cast(IO[bytes], gzip.open(file)),  # noqa: SIM115  # closed by callers
    types.BZIP2: bz2.open,
    types.XZ: lzma.open,
}
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
    media_type = sniff(file, name=name).media_type
    skipped: Counter[str] = Counter()
    unpacker = _Unpacker(sink, skipped, on_member)
    if media_type == types.ZIP:
        unpacker.zip(file)
    elif media_type == types.TAR:
        unpacker.tar(file)
    elif media_type in _STREAMS:
        unpacker.stream(file, media_type, name)
    else:
        raise Permanent(
            f"This is {catalog.label(media_type)}, not an archive.", code="unsupported_type"
        )
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
        whole = _InflationBudget(packed=_size(file), at_least=_ZIP_RATIO_FROM)
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
        if member.is_dir() or path.endswith("/"):
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
        whole: "_InflationBudget",
    ) -> None:
        if member.flag_bits & 0x1:
            self._sink.refuse(path, code="encrypted", message="It is protected by a password.")
            return
        try:
            with open_member(archive, member) as part:
                own = _InflationBudget(packed=member.compress_size)
                self._add(path, _LimitedStream(part, own, whole))
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
                holes = [_InflationBudget(packed=_written(member))] if member.issparse() else []
                self._add(member.name, _LimitedStream(part, *holes))

    def stream(self, file: BinaryIO, media_type: str, name: str) -> None:
        """Unpack a compressed file, which may be a tar."""
        packed = _size(file)
        with _damage_as_error(), _STREAMS[media_type](file) as inflated:
            head = inflated.read(_TAR_BLOCK)
        file.seek(0)
        with _STREAMS[media_type](file) as inflated:
            content = _LimitedStream(inflated, _InflationBudget(packed=packed))
            if _is_tar(head):
                self.tar(cast(IO[bytes], content))
                return
            path = PurePosixPath(name).name
            try:
                self._add(PurePosixPath(path).stem or path, content)
            except _BROKEN:
                self._sink.refuse(path, code="corrupt", message=_DAMAGED)

    def _add(self, path: str, data: "_LimitedStream") -> None:
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


class _InflationBudget:
    """How many bytes may be inflated from a number of packed bytes."""

    def __init__(self, *, packed: int, at_least: int = _RATIO_FROM) -> None:
        self._left = max(at_least, _RATIO * packed)

    def spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise Permanent(
                "The archive decompresses to many times its size (possible decompression bomb).",
                code="archive_unsafe",
            )


class _LimitedStream:
    """A reader that stops with Permanent `archive_unsafe` when an allowance is used up."""

    def __init__(self, stream: IO[bytes], *allowances: _InflationBudget) -> None:
        self._stream = stream
        self._allowances = allowances

    def read(self, size: int = -1) -> bytes:
        block = self._stream.read(size)
        for allowance in self._allowances:
            allowance.spend(len(block))
        return block


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


def _size(file: BinaryIO) -> int:
    """Size of the file in bytes; leaves it at its start."""
    size = file.seek(0, 2)
    file.seek(0)
    return size


@contextmanager
def _damage_as_error() -> Iterator[None]:
    try:
        yield
    except (Permanent, Transient, MemoryError):
        raise
    except Exception as error:
        raise Permanent("The archive is damaged.", code="corrupt") from error


def _is_tar(head: bytes) -> bool:
    if len(head) < _TAR_BLOCK:
        return False
    try:
        tarfile.TarInfo.frombuf(head, "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return False
    return True
