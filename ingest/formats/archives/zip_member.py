"""Opens ZIP members as streams that inflate only as much as is read, whatever the method.

zipfile does so for deflated members only: with bzip2 and LZMA, one call may inflate a few
kilobytes to gigabytes. Their packed bytes are read as if they were stored, and inflated here.
"""

import bz2
import copy
import io
import lzma
import struct
import zipfile
import zlib
from typing import IO, cast

_ENDS_WITH_MARK = 0x2  # flag bit that says that the LZMA data have an end mark
_UNKNOWN = b"\xff" * 8


def open_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> IO[bytes]:
    """Open a member as a stream.

    Raises the errors of zipfile, bz2 and lzma; zipfile.BadZipFile for a wrong checksum.
    """
    if member.compress_type == zipfile.ZIP_BZIP2:
        return cast(IO[bytes], _ChecksumStream(bz2.BZ2File(_packed(archive, member)), member))
    if member.compress_type == zipfile.ZIP_LZMA:
        packed = _packed(archive, member)
        alone = _PrefixedStream(_head(packed, member), packed)
        return cast(IO[bytes], _ChecksumStream(_inflated(alone), member))
    return archive.open(member)


def _inflated(alone: "_PrefixedStream") -> IO[bytes]:
    return cast(IO[bytes], lzma.LZMAFile(cast(IO[bytes], alone), format=lzma.FORMAT_ALONE))


def _packed(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> IO[bytes]:
    stored = copy.copy(member)
    stored.compress_type = zipfile.ZIP_STORED
    stored.file_size = stored.compress_size
    del stored.CRC  # the checksum is that of the inflated bytes
    return archive.open(stored)


def _head(packed: IO[bytes], member: zipfile.ZipInfo) -> bytes:
    """The LZMA properties as the header of a standalone stream (FORMAT_ALONE)."""
    _version, length = struct.unpack("<HH", packed.read(4))
    has_mark = member.flag_bits & _ENDS_WITH_MARK
    return packed.read(length) + (_UNKNOWN if has_mark else struct.pack("<Q", member.file_size))


class _PrefixedStream(io.RawIOBase):
    """A stream with bytes put before it."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self._head = head
        self._rest = rest

    def read(self, size: int = -1) -> bytes:
        if self._head:
            head, self._head = self._head, b""
            return head
        return self._rest.read(size)


class _ChecksumStream(io.RawIOBase):
    """A stream that verifies the member's checksum at its end."""

    def __init__(self, stream: IO[bytes], member: zipfile.ZipInfo) -> None:
        self._stream = stream
        self._expected = member.CRC
        self._name = member.filename
        self._checksum = 0

    def read(self, size: int = -1) -> bytes:
        block = self._stream.read(size)
        self._checksum = zlib.crc32(block, self._checksum)
        if not block and self._checksum != self._expected:
            raise zipfile.BadZipFile(f"bad checksum of {self._name!r}")
        return block
