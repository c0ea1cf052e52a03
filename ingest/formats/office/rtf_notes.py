"""Notes, comments, deletions and inner tables of an RTF file, which its reader loses or mixes up.

They are taken out before it reads the text; a mark stays where each note was. The notes are read
as a second, small file.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ingest.formats.common.notes import end_sections
from ingest.formats.office.blocks import comment_text, one_line

_TOKEN = re.compile(
    rb"[{}]|\\bin(\d{1,9}) ?|\\(footnote|annotation|atnauthor|deleted|nonesttables|fonttbl)"
    rb"(-?\d{0,5})(?![a-z]) ?|\\[a-z]+|\\[^a-z]",
    re.DOTALL,
)
_ANY = re.compile(rb"\\(?:footnote|annotation|deleted|nestcell)(?![a-z])")
_CODE_PAGE = re.compile(rb"\\ansicpg\d{1,5}")
_INNER_CELL = re.compile(rb"\\nestcell(?![a-z]) ?")
_COUNTED = re.compile(rb"\\chftn(?![a-z]) ?")  # the number of a note
# Beside those of common/raised_text.py.
_MARK = b"{\\uc0\\u-556 %d\\u-555 }"
_MARKED = re.compile(
    "(?:[*_]{0,3})[\ufdd0\ufdd2]?\ufdd4(\\d{1,7})\ufdd5(?: *[\ufdd1\ufdd3])?( ?) *"
)
_BETWEEN, _BETWEEN_READ = b"\\par\\pard\\plain\\uc0\\u-554 \\par\\pard\\plain ", "\ufdd6"
_MOST = 10_000


class _Range(NamedTuple):
    start: int
    end: int
    word: bytes
    content: int
    """Where the content begins."""


@dataclass(slots=True)
class Notes:
    """What was taken out of a file, as RTF."""

    head: bytes = b""
    notes: list[bytes] = field(default_factory=list)
    comments: list[tuple[bytes, bytes]] = field(default_factory=list)
    """Author and text."""

    def write(self, markdown: str, read: Callable[[bytes], str]) -> str:
        """The text with the notes at the end of their sections, and the comments at the end.

        `read`: the Markdown of an RTF file.
        """
        if not self.notes and not self.comments:
            return markdown
        pieces = [*self.notes, *(piece for comment in self.comments for piece in comment)]
        whole = b"{\\rtf1\\ansi" + self.head + b"\\pard\\plain " + _BETWEEN.join(pieces) + b"\\par}"
        texts = [one_line(text) for text in read(whole).split(_BETWEEN_READ)]
        texts += [""] * (len(pieces) - len(texts))
        count = len(self.notes)
        notes = dict(enumerate(texts[:count], start=1))
        said = zip(texts[count::2], texts[count + 1 :: 2], strict=False)
        comments = [comment_text(author, text) for author, text in said]
        blocks = end_sections(_MARKED.sub(r"[^\1]\2", markdown).split("\n\n"), notes)
        return "\n\n".join([*blocks, *filter(None, comments)])


def take_notes(data: bytes) -> tuple[bytes, Notes]:
    """The file without deletions, with marks in place of its notes and comments.

    The cells of inner tables are set apart; what they have for readers of older versions is left
    out.
    """
    if not _ANY.search(data):
        return data, Notes()
    dropped = list(_ranges(data, {b"deleted", b"nonesttables"}))
    data = b"".join(_left(data, dropped, lambda _: b""))
    data = _INNER_CELL.sub(rb"\\tab ", _COUNTED.sub(b"", data))
    found = Notes(head=_head(data))
    author = b""

    def taken(part: _Range) -> bytes:
        nonlocal author
        content = data[part.content : part.end - 1]
        if part.word == b"atnauthor":
            author = content
        elif part.word == b"annotation":
            found.comments.append((author, content))
        elif len(found.notes) < _MOST:
            found.notes.append(content)
            return _MARK % len(found.notes)
        return b""

    words = {b"footnote", b"annotation", b"atnauthor"}
    return b"".join(_left(data, list(_ranges(data, words)), taken)), found


def _left(data: bytes, ranges: list[_Range], instead: Callable[[_Range], bytes]) -> Iterator[bytes]:
    end = 0
    for part in ranges:
        yield data[end : part.start]
        yield instead(part)
        end = part.end
    yield data[end:]


def _head(data: bytes) -> bytes:
    """Code page and fonts, which say how bytes are letters."""
    page = _CODE_PAGE.search(data[:1000])
    fonts = next(_ranges(data, {b"fonttbl"}), None)
    return (page[0] if page else b"") + (data[fonts.start : fonts.end] if fonts else b"")


def _ranges(data: bytes, words: set[bytes]) -> Iterator[_Range]:
    """Groups that begin with one of the words; of `deleted`, what follows it in its group."""
    groups: list[int] = []
    opened: tuple[int, _Range] | None = None  # with the number of groups around
    at = 0
    while (token := _TOKEN.search(data, at)) is not None:
        at = token.end()
        if token[1] is not None:
            at += int(token[1])  # binary data
        elif token[0] == b"{":
            groups.append(token.start())
        elif token[0] == b"}":
            if opened is not None and len(groups) == opened[0]:
                part = opened[1]
                yield part._replace(end=token.start() if part.word == b"deleted" else token.end())
                opened = None
            if groups:
                groups.pop()
        elif token[2] in words and opened is None and groups and token[3] != b"0":
            is_first = data[groups[-1] + 1 : token.start()].strip() in (b"", b"\\*")
            if is_first or token[2] == b"deleted":
                start = token.start() if token[2] == b"deleted" else groups[-1]
                opened = len(groups), _Range(start, at, token[2], at)
