"""Notes, comments, deletions and inner tables of an RTF file, which its reader loses or mixes up.

They are taken out before it reads the text; a mark stays where each note was. The notes are read
as a second, small file.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from typing import NamedTuple

from ingest.formats.common.notes import end_sections
from ingest.formats.office.blocks import comment_text, one_line

_TOKEN = re.compile(
    rb"[{}]|\\bin(\d{1,9}) ?|\\(footnote|annotation|atnauthor|deleted|plain|nonesttables|fonttbl)"
    rb"(-?\d{0,5})(?![a-z]) ?|\\[a-z]+|\\[^a-z]",
    re.DOTALL,
)
_ANY = re.compile(rb"\\(?:footnote|annotation|deleted|nestcell)(?![a-z])")
_CODE_PAGE = re.compile(rb"\\ansicpg\d{1,5}")
_INNER_CELL = re.compile(rb"\\nestcell(?![a-z]) ?")
_COUNTED = re.compile(rb"\\chftn(?![a-z]) ?")  # the number of a note
# Beside those of common/raised_text.py.
_MARK = b"{\\uc0\\u-556 %d\\u-555 }{}"  # without `{}`, the reader adds a space
# With emphasis of the mark itself, or of nothing in front of it.
_MARKED = re.compile(
    "([*]{0,3})(?:([*]{0,3})[\ufdd0\ufdd2] *[\ufdd1\ufdd3]\\2)?"
    "[\ufdd0\ufdd2]?\ufdd4(\\d{1,7})\ufdd5(?: *[\ufdd1\ufdd3])?\\1"
)
_BETWEEN, _BETWEEN_READ = b"\\par\\pard\\plain\\uc0\\u-554 \\par\\pard\\plain ", "\ufdd6"
_WHOLE = {b"footnote", b"annotation", b"atnauthor", b"nonesttables"}
"""Groups with properties of their own: in deleted text, nothing of them is kept."""
_FIRST = 100  # bytes in which a group says what it is


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
        blocks = end_sections(_MARKED.sub(r"[^\3]", markdown).split("\n\n"), notes)
        return "\n\n".join([*blocks, *filter(None, comments)])


def take_notes(data: bytes) -> tuple[bytes, Notes]:
    """The file without deletions, with marks in place of its notes and comments.

    The cells of inner tables are set apart; what they have for readers of older versions is left
    out.
    """
    if not _ANY.search(data):
        return data, Notes()
    if b"\\deleted" in data:
        data = b"".join(_left(data, _Deletions(data), lambda _: b""))
    if b"\\nonesttables" in data:
        data = b"".join(_left(data, _ranges(data, {b"nonesttables"}), lambda _: b""))
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
        else:
            found.notes.append(content)
            return _MARK % len(found.notes)
        return b""

    words = {b"footnote", b"annotation", b"atnauthor"}
    return b"".join(_left(data, _ranges(data, words), taken)), found


def _left(
    data: bytes, ranges: Iterable[_Range], instead: Callable[[_Range], bytes]
) -> Iterator[bytes]:
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
    """Groups that begin with one of the words; those inside them are part of them."""
    groups: list[int] = []
    opened: _Range | None = None
    depth = 0  # of the group
    for token in _tokens(data):
        if token[0] == b"{":
            groups.append(token.start())
        elif token[0] == b"}" and groups:
            groups.pop()
            if opened is not None and len(groups) < depth:
                yield opened._replace(end=token.end())
                opened = None
        elif opened is None and groups and token[2] in words and _is_first(data, groups[-1], token):
            opened = _Range(groups[-1], token.end(), token[2], token.end())
            depth = len(groups)


@dataclass(slots=True)
class _Group:
    start: int
    was_deleted: bool
    """Whether the text around it is deleted: so it is again behind it."""
    is_split: bool = False
    """Whether it begins deleted, and something in it is kept; then its braces are, too."""


class _Deletions:
    """Finds deleted text. Groups inherit the property, and what they say of it ends with them."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._groups: list[_Group] = []
        self._begin: int | None = None  # of the deleted text that is not yet given
        self._dropped = 0  # depth of a note or the like that is deleted as a whole

    def __iter__(self) -> Iterator[_Range]:
        for token in _tokens(self._data):
            is_off = token[2] == b"plain" or (token[2] == b"deleted" and token[3] == b"0")
            if token[0] == b"{":
                self._groups.append(_Group(token.start(), was_deleted=self._begin is not None))
            elif token[0] == b"}" and self._groups:
                yield from self._close(token)
            elif self._begin is None:
                if self._groups and token[2] == b"deleted" and not is_off:
                    self._begin = token.start()
            elif not self._dropped and is_off:
                yield from self._keep(self._begin, token.start())
            elif not self._dropped and (token[2] in _WHOLE or token[0] == b"\\*"):
                is_first = self._groups and _is_first(self._data, self._groups[-1].start, token)
                self._dropped = len(self._groups) if is_first else 0

    def _close(self, token: re.Match[bytes]) -> Iterator[_Range]:
        group = self._groups.pop()
        if len(self._groups) < self._dropped:
            self._dropped = 0
        if self._begin is not None and (group.is_split or not group.was_deleted):
            yield _deleted(self._begin, token.start())
            self._begin = None
        if group.was_deleted and self._begin is None:
            self._begin = token.end()

    def _keep(self, begin: int, end: int) -> Iterator[_Range]:
        """The deleted text up to `end`, without the braces of the groups that are still open."""
        inside = list(takewhile(lambda group: group.start >= begin, reversed(self._groups)))
        for group in reversed(inside):
            group.is_split = True
            yield _deleted(begin, group.start)
            begin = group.start + 1
        yield _deleted(begin, end)
        self._begin = None


def _deleted(start: int, end: int) -> _Range:
    return _Range(start, end, b"deleted", start)


def _is_first(data: bytes, group: int, token: re.Match[bytes]) -> bool:
    """Whether a word says what its group is."""
    start = token.start()
    return start - group < _FIRST and data[group + 1 : start].strip() in (b"", b"\\*")


def _tokens(data: bytes) -> Iterator[re.Match[bytes]]:
    """Braces and control words outside of binary data."""
    at = 0
    while (token := _TOKEN.search(data, at)) is not None:
        at = token.end()
        if token[1] is not None:
            at += int(token[1])
        else:
            yield token
