"""Checks the inflated size of documents that are ZIP packages.

Sizes in ZIP headers may be false, so members are inflated and counted, but not kept. Nothing is
unpacked to disk, so member names are harmless.
"""

import zipfile
from dataclasses import dataclass
from typing import BinaryIO

from ingest.errors import Permanent

_MIB = 1024 * 1024
_BLOCK = 256 * 1024
_XML = (".xml", ".rels", ".vml", ".xhtml", ".html", ".htm", ".opf", ".ncx")


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageLimits:
    """Upper limits for a package."""

    entries: int = 10_000
    total: int = 1024 * _MIB
    """Bytes, all members inflated."""
    part: int = 256 * _MIB
    """Bytes of one XML part: parsers build trees of many times this size."""
    markup: int | None = None
    """Tags and attributes of one XML part; None if no tree is built from it."""
    ratio: int = 200
    """Inflated to packed size of a member, from `ratio_from` bytes on; real ones stay below 60."""
    ratio_from: int = 32 * _MIB


TREES = PackageLimits(part=128 * _MIB, markup=8_000_000)
"""For documents whose parts become trees, where a tag or attribute takes about 100 bytes."""


def guard(stream: BinaryIO, limits: PackageLimits = PackageLimits()) -> None:
    """Check that a package is safe to open; leaves the stream at its start.

    Raises Permanent: `archive_unsafe` (too many members, or a bomb by its ratio), `too_large`,
    `encrypted`, `corrupt`.
    """
    stream.seek(0)
    try:
        with zipfile.ZipFile(stream) as archive:
            _check(archive, limits)
    except zipfile.BadZipFile as error:
        raise Permanent("The ZIP container is damaged.", code="corrupt") from error
    stream.seek(0)


def guard_xml(data: bytes, limits: PackageLimits = TREES) -> None:
    """Check that an XML or HTML file is small enough for a tree. Raises Permanent `too_large`."""
    most = limits.markup
    is_crowded = most is not None and len(data) > most and _markup(data) > most
    if len(data) > limits.part or is_crowded:
        raise Permanent("The file contains too much markup.", code="too_large")


def _markup(data: bytes) -> int:
    return data.count(b"<") + data.count(b'="') + data.count(b"='")


def _check(archive: zipfile.ZipFile, limits: PackageLimits) -> None:
    members = archive.infolist()
    if len(members) > limits.entries:
        raise Permanent(
            f"The package has {len(members)} parts; at most {limits.entries} are allowed.",
            code="archive_unsafe",
        )
    inflated = 0
    for member in members:
        if member.flag_bits & 0x1:
            raise Permanent("The package is protected by a password.", code="encrypted")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            # Documents use no other methods, and zipfile inflates those in one call.
            raise Permanent(
                "The package uses a compression method that documents do not use.",
                code="archive_unsafe",
            )
        inflated += _inflate(archive, member, limits.total - inflated, limits)


def _inflate(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, allowed: int, limits: PackageLimits
) -> int:
    """Inflated size of one member. Raises Permanent `archive_unsafe` or `too_large`."""
    size = markup = 0
    is_xml = member.filename.lower().endswith(_XML)
    if is_xml:
        allowed = min(allowed, limits.part)
    plausible = max(limits.ratio_from, limits.ratio * member.compress_size)
    try:
        with archive.open(member) as part:
            while block := part.read(_BLOCK):
                size += len(block)
                if size > plausible:
                    raise Permanent(
                        "The package decompresses to many times its size (ZIP bomb).",
                        code="archive_unsafe",
                    )
                markup += _markup(block) if is_xml else 0
                if size > allowed or (limits.markup is not None and markup > limits.markup):
                    raise Permanent("The package is too large when unpacked.", code="too_large")
    except (Permanent, MemoryError):
        raise
    except Exception:
        # A broken picture does not affect the text; a broken text part fails when it is read.
        return size
    return size
