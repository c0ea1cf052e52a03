"""What texts and shapes of a PowerPoint 97 file refer to: charts, files, addresses of links."""

import io
import struct
import zlib
from typing import BinaryIO, Final

from ingest.formats.common.input_file import MemberSink
from ingest.formats.office import ole_package
from ingest.formats.office.embedded_charts import chart_in
from ingest.formats.slides.powerpoint_97.file import PowerPointFile
from ingest.formats.slides.powerpoint_97.records import Record, children, first
from ingest.formats.slides.powerpoint_97.text import STRING

_OBJECTS, _EMBEDDED, _OBJECT = 0x0409, 0x0FCC, 0x0FC3
_LINK, _LINK_ATOM, _ADDRESS = 0x0FD7, 0x0FD3, 1
_STORAGE, _COMPRESSED = 0x1011, 1
_LARGEST: Final = 128 * 1024 * 1024


class EmbeddedObjects:
    """The objects of a presentation, by the keys that shapes and texts have."""

    def __init__(self, file: PowerPointFile | None) -> None:
        self._file = file
        self._keys: dict[int, int] = {}
        """Keys of persistent objects by those that shapes have."""
        self._names: dict[int, str] = {}
        """By keys of persistent objects."""
        self._read: set[int] = set()
        self._shown: set[int] = set()
        self.addresses: dict[int, str] = {}
        """Of links, by the keys that texts have."""
        objects = first(file.document.data, _OBJECTS) if file is not None else None
        for item in children(objects.data) if objects is not None else ():
            if item.kind == _EMBEDDED:
                self._note_object(item)
            elif item.kind == _LINK:
                self._note_link(item)

    def _note_object(self, item: Record) -> None:
        atom = first(item.data, _OBJECT)
        if atom is not None and len(atom.data) >= 20:
            reference, key = struct.unpack_from("<8xI4xI", atom.data)
            self._keys[reference] = key
            self._names.setdefault(key, f"object{len(self._names) + 1}.bin")

    def _note_link(self, item: Record) -> None:
        atom = first(item.data, _LINK_ATOM)
        for record in children(item.data) if atom is not None else ():
            if atom is not None and record.kind == STRING and record.instance == _ADDRESS:
                key = int.from_bytes(atom.data[:4], "little")
                self.addresses[key] = record.data.decode("utf-16-le", "replace")

    def chart(self, reference: int) -> str:
        """Markdown of the chart that a shape shows; empty if the object is none, or missing.

        A chart is shown once: shapes are small, and could repeat a large one without end.
        """
        key = self._keys.get(reference)
        if key is None or key in self._read:
            return ""
        self._read.add(key)
        text = chart_in(self._storage(key).read())
        if text:
            self._shown.add(key)
        return text

    def hand_over(self, members: MemberSink | None) -> list[dict[str, object]]:
        """Hand each object over once as a member, except the charts that were shown.

        Returns the list for the metadata.
        """
        keys = {name: key for key, name in self._names.items() if key not in self._shown}
        return ole_package.hand_over(keys, lambda name: self._storage(keys[name]), members)

    def _storage(self, key: int) -> BinaryIO:
        """Raises ValueError or zlib.error if there is none, or it is too large."""
        record = None if self._file is None else self._file.object(key)
        if record is None or record.kind != _STORAGE:
            raise ValueError("no object")
        if record.instance != _COMPRESSED:
            return io.BytesIO(record.data)
        inflater = zlib.decompressobj()
        data = inflater.decompress(record.data[4:], _LARGEST)
        if inflater.unconsumed_tail:
            raise ValueError("the object is too large")
        return io.BytesIO(data)
