"""Finds the slides of a PowerPoint 97 file: saved edits, persistent objects, lists of slides."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import olefile

from ingest.formats.slides.powerpoint_97.records import Record, children, first, record_at
from ingest.formats.slides.powerpoint_97.text import Passage, passages

_STREAM: Final = "PowerPoint Document"
_USER: Final = "Current User"
_DUAL: Final = "PP97_DUALSTORAGE"
"""Holds the streams in files that PowerPoint 95 can open, too."""
_EDIT, _DIRECTORY, _DOCUMENT = 0x0FF5, 0x1772, 0x03E8
_LIST, _PLACE = 0x0FF0, 0x03F3
_SLIDES, _NOTES = 0, 2
_SLIDE, _NOTES_KEY = 0x03EF, 16
_CURRENT_EDIT: Final = 16
"""Offset in the stream Current User."""


@dataclass(slots=True)
class SlideEntry:
    """A slide in the list of the document, or its notes."""

    object: int
    """The key of the persistent object."""
    key: int
    """By which slides refer to notes."""
    outline: list[Passage] = field(default_factory=list)
    """Texts that the shapes of the slide refer to by their number."""


def notes_key(slide: Record) -> int:
    """The key of the notes of a slide; 0 if it has none."""
    atom = first(slide.data, _SLIDE)
    if atom is None or len(atom.data) < _NOTES_KEY + 4:
        return 0
    return int(struct.unpack_from("<I", atom.data, _NOTES_KEY)[0])


class PowerPointFile:
    """Raises struct.error, ValueError or OSError if it is damaged."""

    def __init__(self, ole: olefile.OleFileIO) -> None:
        folder = [_DUAL] if ole.exists([_DUAL, _STREAM]) else []
        self._data: bytes = ole.openstream([*folder, _STREAM]).read()
        user = ole.openstream([*folder, _USER]).read() if ole.exists([*folder, _USER]) else b""
        self._places: dict[int, int] = {}
        key = self._read_edits(self._last_edit(user))
        document = self.object(key)
        if document is None or document.kind != _DOCUMENT:
            raise ValueError("no document")
        self.document: Record = document

    def object(self, key: int) -> Record | None:
        """A persistent object; None if it is missing."""
        return record_at(self._data, self._places.get(key, -1))

    def slides(self) -> list[SlideEntry]:
        """In the order of the presentation."""
        return list(self._entries(_SLIDES))

    def notes(self) -> dict[int, int]:
        """Keys of the objects that are speaker notes, by the keys that slides know."""
        return {entry.key: entry.object for entry in self._entries(_NOTES)}

    def _last_edit(self, user: bytes) -> int:
        if len(user) >= _CURRENT_EDIT + 4:
            (place,) = struct.unpack_from("<I", user, _CURRENT_EDIT)
            found = record_at(self._data, place)
            if found is not None and found.kind == _EDIT:
                return int(place)
        place, last = 0, -1
        for record in children(self._data):
            last = place if record.kind == _EDIT else last
            place += 8 + len(record.data)
        return last

    def _read_edits(self, place: int) -> int:
        """Where objects lie, by the newest edit that has them; returns the key of the document."""
        key, seen = -1, set[int]()
        while place not in seen and (edit := record_at(self._data, place)) is not None:
            seen.add(place)
            if edit.kind != _EDIT:
                break
            place, directory, document = struct.unpack_from("<8xIII", edit.data)
            key = document if key < 0 else key
            table = record_at(self._data, directory)
            if table is not None and table.kind == _DIRECTORY:
                self._read_directory(table.data)
        return key

    def _read_directory(self, table: bytes) -> None:
        at = 0
        while at + 4 <= len(table):
            (head,) = struct.unpack_from("<I", table, at)
            start, count = head & 0xFFFFF, head >> 20
            count = min(count, (len(table) - at - 4) // 4)
            for key, place in enumerate(struct.unpack_from(f"<{count}I", table, at + 4), start):
                self._places.setdefault(key, place)
            at += 4 + 4 * count

    def _entries(self, instance: int) -> Iterator[SlideEntry]:
        for records in children(self.document.data):
            if records.kind != _LIST or records.instance != instance:
                continue
            entry: SlideEntry | None = None
            texts: list[Record] = []
            for record in children(records.data):
                if record.kind != _PLACE:
                    texts.append(record)
                    continue
                if entry is not None:
                    entry.outline = list(passages(texts))
                    yield entry
                place, key = struct.unpack_from("<I8xI", record.data)
                entry, texts = SlideEntry(place, key), []
            if entry is not None:
                entry.outline = list(passages(texts))
                yield entry
