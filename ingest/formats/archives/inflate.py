"""Reads gzip, bzip2, xz and Zstandard in bounded memory, as their programs do.

Concatenated streams are one file. What follows the last stream, such as padding, is ignored.
The file objects of the standard library refuse such a gzip file, and zstd's too.
"""

import bz2
import lzma
import re
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO, Final, Protocol

from ingest.formats import media_types as types

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

# Small, because each stream in a block copies what follows it: some files have a million streams.
_BLOCK = 4096
_LONGEST_MAGIC = 6


class _Decompressor(Protocol):
    """Decompresses one stream, as those of bz2, lzma and zstd."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _GzipDecompressor:
    """zlib's, with the interface of the others."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(16 + zlib.MAX_WBITS)

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def needs_input(self) -> bool:
        return not self._stream.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._stream.decompress(self._stream.unconsumed_tail + data, max_length)


@dataclass(frozen=True, slots=True)
class _Method:
    decompressor: Callable[[], _Decompressor]
    begin: re.Pattern[bytes]
    """What each stream begins with; Zstandard also has frames to skip."""


_METHODS: Final[dict[str, _Method]] = {
    types.GZIP: _Method(_GzipDecompressor, re.compile(rb"\x1f\x8b\x08")),
    types.BZIP2: _Method(bz2.BZ2Decompressor, re.compile(rb"BZh[1-9]")),
    types.XZ: _Method(lzma.LZMADecompressor, re.compile(rb"\xfd7zXZ\x00")),
    types.ZSTANDARD: _Method(
        zstd.ZstdDecompressor, re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")
    ),
}


def is_compressed(file: BinaryIO) -> bool:
    """Whether a seekable file begins like a compressed one; leaves it at its start."""
    file.seek(0)
    head = file.read(_LONGEST_MAGIC)
    file.seek(0)
    return any(method.begin.match(head) for method in _METHODS.values())


class InflatedStream:
    """The decompressed bytes of a file that begins with a stream of its media type."""

    def __init__(self, file: BinaryIO, media_type: str) -> None:
        self._file = file
        self._method = _METHODS[media_type]
        self._stream = self._method.decompressor()
        self._packed = b""
        self._ended = False

    def read(self, size: int) -> bytes:
        """At most `size` bytes, at least one before the end.

        Raises EOFError for a file that is cut off, ValueError for one that is damaged.
        """
        while not self._ended:
            if self._stream.eof:
                self._next_stream()
                continue
            if self._stream.needs_input and not self._packed:
                self._packed = self._file.read(_BLOCK)
            packed, self._packed = self._packed, b""
            try:
                block = self._stream.decompress(packed, size)
            except (zlib.error, lzma.LZMAError, zstd.ZstdError, OSError) as error:
                raise ValueError("damaged data") from error
            if block:
                return block
            if not packed and not self._stream.eof:
                raise EOFError("the file is cut off")
        return b""

    def _next_stream(self) -> None:
        rest = self._stream.unused_data
        if len(rest) < _LONGEST_MAGIC:
            rest += self._file.read(_BLOCK)
        if self._method.begin.match(rest) is None:
            self._ended = True
        else:
            self._stream, self._packed = self._method.decompressor(), rest
