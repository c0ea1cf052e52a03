"""A compressed or signed file is read as the file that it holds."""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO, BinaryIO, Final, cast

from ingest.errors import Permanent
from ingest.formats import catalog
from ingest.formats import media_types as types
from ingest.formats.archives.inflate import InflatedStream
from ingest.formats.archives.inflation import InflationBudget, LimitedStream, file_size
from ingest.formats.archives.members import room_on_disk
from ingest.formats.archives.signed import open_signed
from ingest.formats.code_languages import language_of
from ingest.formats.detect.sniff import Sniffed, is_tar, sniff

LARGEST: Final = 1024**3
"""Bytes that a compressed file may hold, unless the caller says otherwise."""
_MOST_LAYERS = 4
_BLOCK = 256 * 1024
_TAR_BLOCK = 512
_SUFFIXES = {
    **dict.fromkeys((".gz", ".bz2", ".xz", ".zst"), ""),
    **dict.fromkeys((".tgz", ".tbz2", ".txz", ".tzst"), ".tar"),
    ".svgz": ".svg",
}
_GZIP_HEADER = 10  # bytes before the optional fields
_HAS_EXTRA, _HAS_NAME = 4, 8
_LONGEST_NAME = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """A file without compression and signatures; the file itself if it has none."""

    stream: BinaryIO
    """Seekable and at its start, except for a tar file inside, which can only be read."""
    name: str | None
    declared: str | None
    sniffed: Sniffed
    is_inflated: bool


@contextmanager
def content_of(
    file: BinaryIO,
    *,
    name: str | None = None,
    declared: str | None = None,
    max_bytes: int = LARGEST,
) -> Iterator[Content]:
    """Decompress a seekable file, if it is compressed, or take what was signed; also repeatedly.

    `name` and `declared` are hints, as in sniff(). Raises Permanent with every code of sniff(), and
    `corrupt` (damaged or cut off), `too_large`, `archive_unsafe` (a bomb, or compressed too often),
    and those of open_signed(); Transient if the disk is full.
    """
    sniffed = sniff(file, name=name, declared=declared)
    is_mismatch = sniffed.mismatch
    budget = InflationBudget(packed=file_size(file))
    layers = 0
    with ExitStack() as opened:
        while catalog.is_compressed(sniffed.media_type):
            layers += 1
            if layers > _MOST_LAYERS:
                raise Permanent("It is compressed too many times.", code="archive_unsafe")
            if catalog.declared_by_header(declared) == sniffed.media_type:
                declared = None
            if sniffed.media_type == types.SIGNED:
                file, name = open_signed(file, name)
                sniffed = sniff(file, name=name, declared=declared)
                continue
            name = _name_inside(file, name)
            inflated = _inflated(file, sniffed.media_type, budget)
            if _holds_tar(file, sniffed.media_type):
                file, sniffed = inflated, Sniffed(types.TAR, mismatch=False)
                break
            file = opened.enter_context(_stored(inflated, max_bytes))
            sniffed = sniff(file, name=name, declared=declared)
            is_mismatch |= sniffed.mismatch
        yield Content(
            stream=file,
            name=name,
            declared=declared,
            sniffed=Sniffed(sniffed.media_type, mismatch=is_mismatch),
            is_inflated=layers > 0,
        )


def _inflated(file: BinaryIO, media_type: str, budget: InflationBudget) -> BinaryIO:
    stream = cast(IO[bytes], InflatedStream(file, media_type))
    return cast(BinaryIO, LimitedStream(stream, budget))


def _holds_tar(file: BinaryIO, media_type: str) -> bool:
    """Such a file is an archive, to be unpacked as a stream; leaves the file at its start."""
    stream = InflatedStream(file, media_type)
    head = b""
    with _damage_as_error():
        while len(head) < _TAR_BLOCK and (part := stream.read(_TAR_BLOCK - len(head))):
            head += part
    file.seek(0)
    return is_tar(head)


@contextmanager
def _stored(inflated: BinaryIO, max_bytes: int) -> Iterator[BinaryIO]:
    """All bytes, in a temporary file."""
    with tempfile.TemporaryFile() as file:
        size = 0
        while block := _read(inflated):
            size += len(block)
            if size > max_bytes:
                raise Permanent(
                    f"It decompresses to more than {max_bytes} bytes.", code="too_large"
                )
            with room_on_disk():
                file.write(block)
        with room_on_disk():
            file.seek(0)
        yield cast(BinaryIO, file)


def _read(inflated: BinaryIO) -> bytes:
    with _damage_as_error():
        return inflated.read(_BLOCK)


@contextmanager
def _damage_as_error() -> Iterator[None]:
    try:
        yield
    except (EOFError, ValueError) as error:
        raise Permanent("The compressed file is damaged or cut off.", code="corrupt") from error


def _name_inside(file: BinaryIO, name: str | None) -> str | None:
    """The name without the suffix of the compression.

    If that says nothing, a name of a text format in the gzip header: others show by their content.
    """
    path = PurePosixPath(name or "")
    replacement = _SUFFIXES.get(path.suffix.lower())
    inside = name if replacement is None else str(path.with_suffix(replacement))
    if catalog.implied_by_name(inside) or language_of(inside):
        return inside
    stated = _gzip_name(file)
    return stated if catalog.is_text(catalog.implied_by_name(stated)) else inside


def _gzip_name(file: BinaryIO) -> str | None:
    """The name in a gzip header; None if there is none. Leaves the file at its start."""
    file.seek(0)
    head = file.read(_GZIP_HEADER)
    name = b""
    if head.startswith(b"\x1f\x8b") and head[3] & _HAS_NAME:
        if head[3] & _HAS_EXTRA:
            file.seek(int.from_bytes(file.read(2), "little"), 1)
        name = file.read(_LONGEST_NAME).partition(b"\0")[0]
    file.seek(0)
    return PurePosixPath(name.decode("latin-1")).name or None
