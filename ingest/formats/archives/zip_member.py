"""Members of a ZIP as streams that inflate as much as is asked for, whatever packed them.

zipfile does so for deflated members only: of bzip2 and LZMA, a few kilobytes become gigabytes in
one call. Their packed bytes are read as if they were stored, and inflated here.
"""

import bz2
import copy
import io
import lzma
import struct
import zipfile
import zlib
from typing import IO, cast

_ENDS_WITH_MARK = 0x2  # flag: the LZMA data say themselves where they end
_UNKNOWN = b"\xff" * 8


def open_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> IO[bytes]:
    """Raises what zipfile, bz2 and lzma raise; zipfile.BadZipFile if the checksum is wrong."""
    if member.compress_type == zipfile.ZIP_BZIP2:
        return cast(IO[bytes], _Checked(bz2.BZ2File(_packed(archive, member)), member))
    if member.compress_type == zipfile.ZIP_LZMA:
        packed = _packed(archive, member)
        alone = _Led(_head(packed, member), packed)
        return cast(IO[bytes], _Checked(_inflated(alone), member))
    return archive.open(member)


def _inflated(alone: "_Led") -> IO[bytes]:
    return cast(IO[bytes], lzma.LZMAFile(cast(IO[bytes], alone), format=lzma.FORMAT_ALONE))


def _packed(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> IO[bytes]:
    stored = copy.copy(member)
    stored.compress_type = zipfile.ZIP_STORED
    stored.file_size = stored.compress_size
    del stored.CRC  # of what is inflated
    return archive.open(stored)


def _head(packed: IO[bytes], member: zipfile.ZipInfo) -> bytes:
    """The properties as the format of a lone LZMA stream has them."""
    _version, length = struct.unpack("<HH", packed.read(4))
    has_mark = member.flag_bits & _ENDS_WITH_MARK
    return packed.read(length) + (_UNKNOWN if has_mark else struct.pack("<Q", member.file_size))


class _Led(io.RawIOBase):
    """A stream with some bytes before it."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self._head = head
        self._rest = rest

    def read(self, size: int = -1) -> bytes:
        if self._head:
            head, self._head = self._head, b""
            return head
        return self._rest.read(size)


class _Checked(io.RawIOBase):
    """A stream that complains at its end if it is not what was packed."""

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
