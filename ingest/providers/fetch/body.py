"""Writes a response body to a file while decoding, counting and hashing it."""

import asyncio
import hashlib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ingest.asynchronous.tasks import wait_uncancelled
from ingest.providers.fetch.failures import failed, too_large, unreadable

ACCEPTED: Final = "gzip, deflate"

_GATHERED_BYTES: Final = 256 * 1024
_STEP_BYTES: Final = 1024 * 1024
# Servers send one member, parallel compressors a few; each copies the data after it.
_MOST_MEMBERS: Final = 10_000
_SLICE_BYTES: Final = 64 * 1024
_GZIP_MAGIC: Final = b"\x1f\x8b"


class BodyWriter:
    """Writes to the file `into`, emptied first. Raises Permanent `too_large` above `cap` bytes.

    The cap limits both received and decoded bytes; no announced size is trusted. A decompression
    bomb is refused after `cap` bytes of disk and little memory.
    """

    def __init__(self, into: Path, *, coding: str, cap: int) -> None:
        """`coding`: the value of Content-Encoding; raises Permanent `fetch_failed` if unknown."""
        self.size = 0
        """Decoded bytes written so far."""
        self._into = into
        self._cap = cap
        self._decoder = _decoder(coding)
        self._hash = hashlib.sha256()
        self._gathered: list[bytes] = []
        self._gathered_size = 0
        self._raw_size = 0

    @property
    def sha256(self) -> bytes:
        """SHA-256 of the decoded bytes written so far."""
        return self._hash.digest()

    async def write(self, data: bytes) -> None:
        self._raw_size += len(data)
        if self._raw_size > self._cap:
            raise too_large(self._cap)
        self._gathered.append(data)
        self._gathered_size += len(data)
        if self._gathered_size >= _GATHERED_BYTES:
            await self._flush(last=False)

    async def finish(self) -> None:
        """Write the rest; raises Transient `fetch_failed` if the compressed data is truncated."""
        await self._flush(last=True)

    async def _flush(self, *, last: bool) -> None:
        data = b"".join(self._gathered)
        self._gathered.clear()
        self._gathered_size = 0
        running = asyncio.ensure_future(asyncio.to_thread(self._store, data, last=last))
        try:
            await asyncio.shield(running)
        except asyncio.CancelledError:
            await wait_uncancelled(
                running
            )  # or the thread would write to a file that the caller has removed
            raise

    def _store(self, data: bytes, *, last: bool) -> None:
        with self._into.open("ab" if self.size else "wb") as file:
            try:
                for part in self._decoded(data, last=last):
                    self.size += len(part)
                    if self.size > self._cap:
                        raise too_large(self._cap)
                    self._hash.update(part)
                    file.write(part)
            except zlib.error:
                raise failed("the compressed response is damaged") from None

    def _decoded(self, data: bytes, *, last: bool) -> Iterator[bytes]:
        if self._decoder is None:
            yield data
            return
        yield from self._decoder.decode(data)
        if last and self._raw_size and not self._decoder.complete:
            raise failed("the compressed response is truncated")


class _Inflater:
    """Decodes gzip (one or more members) or deflate (zlib or raw) in bounded steps."""

    def __init__(self, *, gzip: bool) -> None:
        self._gzip = gzip
        self._members = 0
        self._member: zlib._Decompress | None = None
        self._ended = False

    @property
    def complete(self) -> bool:
        return self._ended or (self._member is not None and self._member.eof)

    def decode(self, data: bytes) -> Iterator[bytes]:
        for start in range(0, len(data), _SLICE_BYTES):
            yield from self._decode_slice(data[start : start + _SLICE_BYTES])

    def _decode_slice(self, data: bytes) -> Iterator[bytes]:
        while data and not self._ended:
            if self._member is None or self._member.eof:
                if self._members and not (self._gzip and _GZIP_MAGIC.startswith(data[:2])):
                    self._ended = True  # ignore padding or garbage after the data
                    return
                self._members += 1
                if self._members > _MOST_MEMBERS:
                    raise unreadable(
                        f"the response consists of more than {_MOST_MEMBERS} gzip members"
                    )
                self._member = zlib.decompressobj(self._window_bits(data))
            yield from _steps(self._member, data)
            data = self._member.unused_data

    def _window_bits(self, data: bytes) -> int:
        if self._gzip:
            return 16 + zlib.MAX_WBITS
        # "deflate" means a zlib stream, but some servers send raw deflate.
        wrapped = data[0] & 0x0F == zlib.DEFLATED and int.from_bytes(data[:2], "big") % 31 == 0
        return zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS


def _steps(member: "zlib._Decompress", data: bytes) -> Iterator[bytes]:
    while True:
        part = member.decompress(data, _STEP_BYTES)
        yield part
        data = member.unconsumed_tail
        if member.eof or (not data and len(part) < _STEP_BYTES):
            return


def _decoder(coding: str) -> _Inflater | None:
    names = [name.strip().lower() for name in coding.split(",")]
    match [name for name in names if name not in ("", "identity")]:
        case []:
            return None
        case ["gzip" | "x-gzip"]:
            return _Inflater(gzip=True)
        case ["deflate"]:
            return _Inflater(gzip=False)
        case _:
            raise unreadable("the response uses a compression that was not requested")
