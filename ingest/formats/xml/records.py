"""Data in XML as records, in one pass and without a tree.

An element whose children are all leaves becomes a list item: `- country: name: France; capital:
Paris`. The parent of such elements becomes the item they are nested in; an element with text
between its children becomes running text. Attributes are fields.
"""

from collections.abc import Iterator
from xml.parsers import expat

from ingest.errors import Permanent
from ingest.formats.common.markdown_writer import Lines

_BLOCK = 1024 * 1024
_DEEPEST = 8  # levels of nested items that are shown
_MOST_FIELDS = 5000  # of a record; an element with more becomes a list of its children
_MOST_LEVELS = 10_000
_LONGEST_NAME = 100  # characters; names are repeated for every field
_UNNAMED = frozenset({"item", "row", "record", "entry", "element", "tr"})
"""Element names without meaning, which are not shown."""
_TECHNICAL = ("xmlns", "xsi:", "xml:")


def write(data: bytes, out: Lines) -> None:
    """Write `data`, which is UTF-8 whatever encoding it declares.

    Raises expat.ExpatError if it is not well-formed, Permanent: `corrupt` (more than 10,000
    levels), `too_large`.
    """
    parser = expat.ParserCreate("utf-8")
    writer = _RecordWriter(out)
    parser.buffer_text = True
    parser.StartElementHandler = writer.start
    parser.EndElementHandler = writer.end
    parser.CharacterDataHandler = writer.text
    parser.SkippedEntityHandler = writer.skipped
    for start in range(0, len(data), _BLOCK):
        parser.Parse(data[start : start + _BLOCK], False)
    parser.Parse(b"", True)


class _OpenElement:
    __slots__ = ("depth", "fields", "has_text", "is_inline", "is_leaf", "is_open", "name", "texts")

    def __init__(self, name: str, fields: list[tuple[str, str]], depth: int) -> None:
        self.name = name
        self.fields = fields
        """Attributes and leaf children not written yet."""
        self.depth = depth
        self.texts: list[str] = []
        """The element's text in order, with that of leaf children."""
        self.is_leaf = True
        self.has_text = False
        """Has text outside its children."""
        self.is_inline = False
        """Part of the running text of its parent."""
        self.is_open = False
        """The element's item is written; each child becomes a separate item."""

    @property
    def is_running(self) -> bool:
        return self.is_inline or (self.has_text and not self.is_open)

    def flow(self) -> str:
        return " ".join("".join(self.texts).split())


class _RecordWriter:
    def __init__(self, out: Lines) -> None:
        self._out = out
        self._stack: list[_OpenElement] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        parent = self._stack[-1] if self._stack else None
        fields = [
            (_local(key), " ".join(value.split()))
            for key, value in attributes.items()
            if not key.startswith(_TECHNICAL) and value.strip()
        ]
        element = _OpenElement(_local(name), fields, parent.depth + 1 if parent else -1)
        if parent:
            element.is_inline = parent.is_running
            if parent.is_leaf and not element.is_inline and len(self._stack) > 1:
                self._open(self._stack[-2])
            parent.is_leaf = False
        self._stack.append(element)
        if len(self._stack) > _MOST_LEVELS:
            raise Permanent(
                f"The XML file is nested more than {_MOST_LEVELS:,} levels deep.", code="corrupt"
            )

    def text(self, text: str) -> None:
        element = self._stack[-1]
        element.texts.append(text)
        element.has_text = element.has_text or not text.isspace()

    def skipped(self, name: str, is_parameter: bool) -> None:
        """Keep a reference to an entity declared outside the file, which is not read."""
        if not is_parameter:
            self.text(f"&{name};")

    def end(self, _: str) -> None:
        element = self._stack.pop()
        parent = self._stack[-1] if self._stack else None
        if element.is_open:
            self._close(element)
        elif parent is None:
            self._open(element)
            self._close(element)
        elif element.is_inline:
            parent.texts += element.texts
        elif element.is_leaf or element.has_text:
            self._add(parent, element)
        else:
            self._out.item(_named(element.name, _pairs(element.fields)), depth=_shown(element))

    def _add(self, parent: _OpenElement, element: _OpenElement) -> None:
        """Write a leaf element as an item if its parent is open, else make it a field."""
        flow = element.flow()
        if parent.is_open:
            texts = [*([flow] if flow else []), *_pairs(element.fields)]
            self._out.item(_named(element.name, iter(texts)), depth=_shown(element))
            return
        parent.fields += [(f"{element.name}.{key}", value) for key, value in element.fields]
        if flow:
            parent.fields.append((element.name, flow))
        parent.texts += element.texts
        if len(parent.fields) > _MOST_FIELDS and not parent.has_text:
            self._open(parent)

    def _open(self, element: _OpenElement) -> None:
        """Write an element's fields before its nested items."""
        if element.is_open or element.is_running:
            return
        element.is_open = True
        if element.depth < 0:
            for field in _pairs(element.fields):
                self._out.item([field])
        else:
            pairs = _named(element.name, _pairs(element.fields))
            if not self._out.item(pairs, depth=_shown(element)):
                self._out.item([f"{element.name}:"], depth=_shown(element))
        element.fields = []
        element.texts = []
        element.has_text = False

    def _close(self, element: _OpenElement) -> None:
        """Write text that stood between the children of an open element."""
        if element.has_text:
            self._out.item([element.flow()], depth=max(0, min(_DEEPEST, element.depth + 1)))


def _pairs(fields: list[tuple[str, str]]) -> Iterator[str]:
    return (f"{name}: {value}" for name, value in fields)


def _named(name: str, pieces: Iterator[str]) -> Iterator[str]:
    """The pieces, the first with the element name in front if the name has a meaning."""
    first = next(pieces, None)
    if first is not None:
        yield first if name.lower() in _UNNAMED else f"{name}: {first}"
        yield from pieces


def _shown(element: _OpenElement) -> int:
    return max(0, min(_DEEPEST, element.depth))


def _local(name: str) -> str:
    return name.rpartition(":")[2][:_LONGEST_NAME]
