"""Comments and links of OpenDocument sheets, which calamine does not tell."""

import zipfile
from collections import defaultdict
from typing import Final
from xml.parsers import expat

from ingest.formats.office.blocks import one_line
from ingest.formats.sheets.drawings import cell_comment
from ingest.formats.sheets.limits import blocks, column_letters

_CONTENT: Final = "content.xml"
_LARGEST: Final = 256 * 1024 * 1024  # bytes of XML; a larger sheet is read without
_MOST: Final = 10_000  # comments and links of a workbook
_SIGNS: Final = (b":annotation", b":a ")
_CELLS: Final = frozenset({"table-cell", "covered-table-cell"})


class OdsNotes:
    """By the index of the table."""

    def __init__(self) -> None:
        self.comments: dict[int, list[str]] = defaultdict(list)
        """Markdown blocks, in the order of the cells."""
        self.links: dict[int, dict[tuple[int, int], str]] = defaultdict(dict)
        """The first address in each cell, by row and column."""
        self._table = -1
        self._row = self._column = self._times = self._count = 0
        self._author: list[str] = []
        self._text: list[str] = []
        self._depth = 0
        """Open elements: a comment and those in it."""
        self._open = dict.fromkeys(("creator", "p"), 0)
        """How many of them have these names."""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Take the begin of an element."""
        prefix, _, kind = name.rpartition(":")
        if self._depth or kind == "annotation":
            self._enter(kind, 1)
            self._text.append(" ")
        elif kind == "table":
            self._table, self._row, self._column = self._table + 1, 0, 0
        elif kind == "table-row":
            self._column, self._times = 0, _repeated(attributes, "rows")
        elif kind in _CELLS:
            self._column += _repeated(attributes, "columns")
        elif kind == "a" and prefix == "text" and self._count < _MOST:
            address = next((at for key, at in attributes.items() if key.endswith(":href")), "")
            self._count += 1
            self.links[self._table].setdefault((self._row, self._column - 1), address)

    def end(self, name: str) -> None:
        """Take the end of an element."""
        kind = name.rpartition(":")[2]
        if not self._depth:
            self._row += self._times if kind == "table-row" else 0
            return
        self._enter(kind, -1)
        if not self._depth:
            author, text = ("".join(pieces) for pieces in (self._author, self._text))
            place = f"{column_letters(self._column)}{self._row + 1}"
            block = cell_comment(one_line(author), place, text)
            if block and self._count < _MOST:
                self._count += 1
                self.comments[self._table].append(block)
            self._author, self._text = [], []

    def characters(self, text: str) -> None:
        """Take text between elements."""
        if self._open["creator"]:
            self._author.append(text)
        elif self._open["p"]:
            self._text.append(text)

    def _enter(self, kind: str, by: int) -> None:
        """Enter an element, or leave it if `by` is -1."""
        self._depth += by
        if kind in self._open:
            self._open[kind] += by


def read_notes(archive: zipfile.ZipFile) -> OdsNotes:
    """Raises expat.ExpatError for broken XML."""
    notes = OdsNotes()
    content = archive.getinfo(_CONTENT)
    if content.file_size > _LARGEST or not any(
        sign in data for data in blocks(archive, content) for sign in _SIGNS
    ):
        return notes
    parser = expat.ParserCreate()
    parser.StartElementHandler = notes.start
    parser.EndElementHandler = notes.end
    parser.CharacterDataHandler = notes.characters
    with archive.open(_CONTENT) as stream:
        parser.ParseFile(stream)
    return notes


def _repeated(attributes: dict[str, str], what: str) -> int:
    stated = attributes.get(f"table:number-{what}-repeated", "1")
    return int(stated) if stated.isdecimal() and len(stated) < 10 else 1
