"""Records of the stream PowerPoint Document ([MS-PPT] 2.3.1, drawings: [MS-ODRAW])."""

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

_HEAD: Final = struct.Struct("<HHI")
_CONTAINER: Final = 0xF


class Record(NamedTuple):
    """A record; if it is a container, its data are records."""

    kind: int
    instance: int
    data: bytes
    is_container: bool


def record_at(data: bytes, at: int) -> Record | None:
    """The record at an offset; None behind the end. What is cut off is shorter."""
    if not 0 <= at <= len(data) - _HEAD.size:
        return None
    version, kind, length = _HEAD.unpack_from(data, at)
    start = at + _HEAD.size
    return Record(kind, version >> 4, data[start : start + length], version & 0xF == _CONTAINER)


def children(data: bytes) -> Iterator[Record]:
    """The records in the data of a container, one after the other."""
    at, last = _HEAD.size, len(data)
    while at <= last:  # as record_at(), whose call costs as much as the rest
        version, kind, length = _HEAD.unpack_from(data, at - _HEAD.size)
        content = data[at : at + length]
        yield Record(kind, version >> 4, content, version & 0xF == _CONTAINER)
        at += len(content) + _HEAD.size


def first(data: bytes, *path: int) -> Record | None:
    """The first record that is reached by these kinds, one inside the other."""
    found: Record | None = None
    for kind in path:
        found = next((record for record in children(data) if record.kind == kind), None)
        if found is None:
            return None
        data = found.data
    return found
