"""Numbers of headings and items in an RTF file, which its reader drops or counts anew.

The file says each as text, for readers that cannot count: `1.1`, `(a)`. They are marked before it
is read. The reader also adds a space behind groups within a word: `H{\\sub 2}O`.
"""

import re
from typing import Final

_GROUP: Final = re.compile(rb"\{\\(?:listtext|pntext)(?![a-z]) ?")
_TOKEN: Final = re.compile(rb"[{}]|\\'[0-9a-fA-F]{2}|\\[a-z]+-?\d* ?|\\[^a-z]", re.DOTALL)
_KEPT: Final = re.compile(rb"\\(?:'|(?:u|uc|f)-?\d)|\\[\\{}_~-]")
_ESCAPE: Final = re.compile(r"\\(?:'([0-9a-fA-F]{2})|u(-?\d{1,5}) ?\??|[a-z]+-?\d* ?|.)", re.DOTALL)
# Word closes the group of the paragraph before behind the number.
_OUTER_END: Final = re.compile(rb"[\r\n]*\}(?=[\r\n]*\\pard(?![a-z]))")
_FORMATS: Final = re.compile(rb"(?:\\(?!(?:tab|par|cell|line|u)(?![a-z]))[a-z]+-?\d* ?|[\r\n])*+")
_LISTED: Final = re.compile(rb"\\(?:ls|ilvl)\d+ ?")
_STYLE: Final = re.compile(rb"\{\\s(\d{1,4})(?!\d)([^;]{0,3000})")
_STYLES: Final = 1_000_000  # bytes in which the styles of headings are looked for
_STYLED: Final = re.compile(rb"\\s(\d{1,4})(?!\d)")
_LEVEL: Final = re.compile(rb"\\outlinelevel[0-8](?!\d)")
_OUTLINED: Final = re.compile(rb"\\outlinelevel([0-8])(?!\d)|\bheading ([1-9])", re.IGNORECASE)
_LONGEST: Final = 2000  # bytes of a number, with its formats
_MARKED: Final = re.compile(
    # The reader opens the level above an item with one more `- `, if no item of it precedes.
    "^( *(?:- (?=- ))?)((?:-|\\d{1,9}[.)]) +|#{1,6} +)?[*_]{0,4}\ufdda([^\ufdda\ufddb\n]*)\ufddb *",
    re.MULTILINE,
)
_STRAY: Final = re.compile("\ufdda([^\ufdda\ufddb\n]*)\ufddb *")
_ITEM: Final = re.compile(r"\d{1,9}[.)]")
_LETTERS: Final = re.compile(r"[^\W\d_]")
_WORD_GOES_ON: Final = re.compile(
    rb"\\bin(\d{1,9}) ?|\\[{}\\]|\}(?=[^\s{}\\;]|\\'|\\u-?\d)", re.DOTALL
)


def mark_labels(data: bytes) -> bytes:
    """The file with marks around its numbers, which become text; unchanged if all are bullets
    that stand before their items."""
    pieces: list[bytes] = []
    end = 0
    has_numbers = is_outside = False
    headings = _heading_styles(data)
    while (group := _GROUP.search(data, end)) is not None:
        pieces.append(data[end : group.start()])
        content, end = _label(data, group.end())
        if content is None:
            pieces.append(data[group.start() : end])
            continue
        has_numbers = has_numbers or _counts(_ESCAPE.sub(_character, content.decode("latin-1")))
        if content:
            if (closed := _OUTER_END.match(data, end)) is not None:
                is_outside = True
                pieces.append(closed[0])
                end = closed.end()
            before = data[max(0, group.start() - _LONGEST) : group.start()].rpartition(b"\\par")[2]
            formats = _FORMATS.match(data, end)
            found = formats[0] if formats else b""
            end += len(found)
            heading = _heading(before + found, headings)
            if heading is not None:
                # The reader takes it for an item otherwise, and knows no styles.
                found = _LISTED.sub(b"", found) + heading
            # Behind the formats of the paragraph, which Word writes after the number. Braces keep
            # its font away from what follows.
            pieces += [found, b"{\\uc0\\u-550 }{}{\\uc1 ", content, b"}{}{\\uc0\\u-549 }{}"]
    return b"".join([*pieces, data[end:]]) if has_numbers or is_outside else data


def write_labels(markdown: str) -> str:
    """Replace the marks in what the reader made of the file."""
    return _STRAY.sub(lambda found: _spaced(found[1]), _MARKED.sub(_written, markdown))


def close_groups(data: bytes) -> bytes:
    """The file with `{}` behind each group within a word, where the reader adds no space."""
    pieces: list[bytes] = []
    end = at = 0
    while (token := _WORD_GOES_ON.search(data, at)) is not None:
        at = token.end() + int(token[1] or 0)
        if token[0] == b"}":
            pieces += [data[end:at], b"{}"]
            end = at
    return b"".join([*pieces, data[end:]])


def _heading_styles(data: bytes) -> dict[bytes, bytes]:
    """The words that make a paragraph a heading, by the numbers of its style."""
    start = data.find(b"{\\stylesheet")
    if start < 0:
        return {}
    styles = _STYLE.finditer(data, start, start + _STYLES)
    return {
        style[1]: b"\\outlinelevel" + (level[1] or b"%d" % (int(level[2]) - 1)) + b" "
        for style in styles
        if (level := _OUTLINED.search(style[2]))
    }


def _heading(formats: bytes, headings: dict[bytes, bytes]) -> bytes | None:
    """What the formats of a paragraph lack to make it a heading; None if it is none."""
    if _LEVEL.search(formats):
        return b""
    stated = _STYLED.findall(formats)
    return headings.get(stated[-1]) if stated else None


def _label(data: bytes, start: int) -> tuple[bytes | None, int]:
    """The characters of a group without formats, and its end; None if it is too long, and where
    reading stopped."""
    depth = 1
    pieces: list[bytes] = []
    at = start
    for token in _TOKEN.finditer(data, start, start + _LONGEST):
        pieces.append(data[at : token.start()].strip(b"\r\n"))
        at = token.end()
        depth += {b"{": 1, b"}": -1}.get(token[0], 0)
        if not depth:
            return b"".join(pieces).strip(), at
        if _KEPT.match(token[0]):
            pieces.append(token[0])
    return None, at


def _written(found: re.Match[str]) -> str:
    level, mark, label = len(found[1]) // 2, found[2] or "", " ".join(found[3].split())
    indent = "   " * level
    if mark.startswith("#"):
        return mark + (_spaced(label) if _counts(label) else "")
    if not _counts(label):
        return indent + (mark or "- ")
    return f"{indent}{label} " if _ITEM.fullmatch(label) or not mark else f"{indent}- {label} "


def _character(escape: re.Match[str]) -> str:
    byte, code = escape.groups()
    return chr(int(byte, 16)) if byte else chr(int(code) & 0xFFFF) if code else ""


def _counts(label: str) -> bool:
    """Whether it is a number and no bullet; letters of symbol fonts are bullets: `o`, `Ø`."""
    return any(map(str.isdigit, label)) or (len(label) > 1 and bool(_LETTERS.search(label)))


def _spaced(label: str) -> str:
    return f"{label} " if _counts(label) else ""
