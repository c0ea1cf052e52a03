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
        else:
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
    """Groups that begin with one of the words; of `deleted`, what follows until it is undone."""
    groups: list[int] = []
    opened: _Range | None = None
    depth = 0  # number of groups around it
    resumed: _Range | None = None  # a deletion that a group inside undoes, behind that group
    at = 0
    while (token := _TOKEN.search(data, at)) is not None:
        at = token.end()
        if token[1] is not None:
            at += int(token[1])  # binary data
        elif token[0] == b"{":
            groups.append(token.start())
        elif opened is not None and len(groups) == depth and _ends(opened, token):
            is_part = opened.word == b"deleted"
            yield opened._replace(end=token.start() if is_part else token.end())
            opened = None
        elif opened is not None and len(groups) == depth + 1 and _is_kept(opened, token):
            yield opened._replace(end=groups[-1])
            yield opened._replace(start=groups[-1] + 1, end=token.end())
            opened, resumed = None, opened
        elif resumed is not None and token[0] == b"}" and len(groups) == depth + 1:
            opened, resumed = resumed._replace(start=token.end(), content=token.end()), None
        elif opened is None and groups and token[2] in words and token[3] != b"0":
            opened, depth = _begun(data, groups[-1], token), len(groups)
        if token[0] == b"}" and groups:
            groups.pop()


def _ends(part: _Range, token: re.Match[bytes]) -> bool:
    if token[0] == b"}":
        return True
    return part.word == b"deleted" and (token[2] == b"plain" or _is_kept(part, token))


def _is_kept(part: _Range, token: re.Match[bytes]) -> bool:
    return part.word == token[2] == b"deleted" and token[3] == b"0"


def _begun(data: bytes, group: int, token: re.Match[bytes]) -> _Range | None:
    """The range that the word begins in its group, without its end; None if it begins none."""
    start, word, end = token.start(), token[2], token.end()
    if word == b"deleted":
        return _Range(start, end, word, end)
    is_first = start - group < _FIRST and data[group + 1 : start].strip() in (b"", b"\\*")
    return _Range(group, end, word, end) if is_first else None
