"""Writes Markdown line by line, with a limit on the total size."""

import os
from collections.abc import Iterable

from ingest.errors import Permanent
from ingest.formats.common.input_file import InputFile
from ingest.formats.common.markdown import plain
from ingest.formats.encoding.decode import decode
from ingest.model import Encoding

LONGEST = 100_000_000
"""Characters of text per file: what can be chunked and stored in bounded memory."""
_LARGEST = 2 * LONGEST  # bytes; the text of a larger file exceeds LONGEST
_FEW = 10_000  # lines joined at a time: each single string costs 50 bytes more


def read_text(source: InputFile) -> tuple[str, Encoding]:
    """Read and decode a text format. Raises Permanent `too_large`."""
    size = source.stream.seek(0, os.SEEK_END)
    source.stream.seek(0)
    if size > _LARGEST:
        raise Permanent(
            f"The file is larger than {_LARGEST:,} bytes, the limit for text formats.",
            code="too_large",
        )
    return decode(source.stream.read(), declared=source.declared)


class Lines:
    """Collects lines. Every method raises Permanent `too_large` beyond `longest` characters."""

    def __init__(self, longest: int = LONGEST) -> None:
        self._longest = longest
        self._left = longest
        self._lines: list[str] = []
        self._blocks: list[str] = []
        self._has_gap = True

    def heading(self, level: int, title: str) -> None:
        """Write a heading between blank lines; nothing if the title is blank."""
        title = " ".join(title.split())
        if title:
            self.gap()
            self._add(f"{'#' * level} {title}")
            self.gap()

    def item(self, pieces: Iterable[str], *, depth: int = 0, separator: str = "; ") -> bool:
        """Write a list item of joined pieces; if there are none, write nothing and return False."""
        taken = []
        for piece in pieces:
            self._take(len(piece) + len(separator))
            taken.append(piece)
        if taken:
            self._add(f"{'  ' * depth}- {separator.join(taken)}", is_counted=True)
        return bool(taken)

    def text(self, text: str) -> None:
        """Plain text, escaped where it looks like Markdown."""
        self._add(plain(text))

    def block(self, markdown: str) -> None:
        """Markdown between blank lines; nothing if it is blank."""
        if markdown.strip():
            self.gap()
            self._add(markdown.strip("\n"))
            self.gap()

    def line(self, markdown: str) -> None:
        """Write a line of Markdown, unchanged."""
        self._add(markdown)

    def gap(self) -> None:
        """Write a blank line, unless there is one already."""
        if not self._has_gap:
            self._add("")
            self._has_gap = True

    def __str__(self) -> str:
        self._join()
        return "\n".join(self._blocks).strip("\n")

    def _add(self, line: str, *, is_counted: bool = False) -> None:
        self._take(1 if is_counted else len(line) + 1)
        self._has_gap = False
        self._lines.append(line)
        if len(self._lines) >= _FEW:
            self._join()

    def _take(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise Permanent(
                f"The file contains more than {self._longest:,} characters of text.",
                code="too_large",
            )

    def _join(self) -> None:
        if self._lines:
            self._blocks.append("\n".join(self._lines))
            self._lines.clear()
