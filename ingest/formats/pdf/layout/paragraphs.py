"""Tells line breaks inside a paragraph, which are spaces, from those that mean something.

A line was wrapped if the first word of the next one had no room behind it. Addresses, verses and
code keep their lines.
"""

import re

from ingest.formats.pdf.layout.addresses import is_broken_address
from ingest.formats.pdf.layout.line_ends import (
    AT_ONE_PLACE,
    CJK,
    END_OF_SENTENCE,
    GRAIN,
    INDENT,
    Edges,
    Start,
    room_needed,
)
from ingest.formats.pdf.layout.text_lines import Line

_NARROWEST = 12.0  # font sizes; lines in a narrower column are labels rather than text
_LOOSE = 0.7  # the same for lines that have gaps for certain
_LOOSER = 1.0  # the same above a line that ends at the same edge: both may be justified
_SIZE = 0.85  # of the height of a line
_ITEM = re.compile(
    r"[-*+\u2022\u2023\u25aa-\u25cf\u2013\u2014\uf0b7]\s|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]+)[.)]\s"
)
_LABEL = re.compile(r"[^\W\d_][^:.,;!?]{0,40}:\s")
NOTE = re.compile(r"(?:\d{1,3}|[*†‡§¹²³⁰⁴-⁹]{1,3}|\[\d{1,3}\])\s*[^\W\d_\s]")
"""How a footnote begins."""
_NUMBER = re.compile(r"[0-9]{1,3}(?![0-9])")
_PAGE = re.compile(r"(,|[^\W\d_]) (\d{1,4})$")
_LONGEST_END = 10  # characters, of dots and a page
_NEXT = 50  # pages from one entry of a table of contents to the next
_LEADERS = (". .", "...", "…", "_ _", "___")
_BEHIND_ITEM = (".", ")")
_PROSE = 25.0  # font sizes; wider lines are those of text
_WIDE_WORD = 1.3  # times the width of a word of usual letters
_BROKEN_BY_HAND = 0.3  # of the width of the column; less is left free at the end of a line
_ELSEWHERE = 3.0  # font sizes between the right end of a line and the left end of the one above
_RIGHT_TO_LEFT = ("\u0590", "\u08ff")

_DASH = re.compile(r"[-\u2013\u2014]\s")
# Words behind which no sentence, item or entry ends.
_GOES_ON = frozenset(
    re.findall(
        r"\w+",
        "a an and at by for from in of or the to with as der die das den dem des ein eine und oder"
        " mit von zu im le la les un une des du de et ou à au aux dans par pour el los las y o con"
        " para del il lo gli di e ed per nel della het een en van met",
    )
)


def is_wrapped(line: Line, following: Line, edges: Edges) -> bool:
    """Whether the text goes on in the line below, without a break that means something."""
    edge = edges.get(id(line))
    text = following.text
    if edge is None or not text or following.kind not in ("text", line.kind):
        return False
    if line.continues or _start(following, edges) == "entry":
        return line.continues
    left, right, most_room, _ = edge
    size = line.size or line.height
    first = text[0]
    is_right_to_left = _RIGHT_TO_LEFT[0] <= first <= _RIGHT_TO_LEFT[1]
    if is_right_to_left:
        room, width = line.left - left, max(line.right, following.right) - left
    else:
        room, width = right - line.right, right - min(line.left, following.left)
    if width < _NARROWEST * size or line.left - following.right > _ELSEWHERE * size:
        return False
    if abs(size - following.size) > 0.1 * size and not _is_mark_smaller(line, following):
        return False
    if following.pitch and not line.pitch:  # a line of code
        return False
    if room >= room_needed(following) and not _is_in_sentence(line, following, room, right - left):
        return False
    if room >= most_room and not first.islower() and not is_right_to_left:
        return False
    if _begins_anew(line, following):
        return False
    is_end = line.text[-1] in END_OF_SENTENCE and not is_right_to_left
    return not is_end or _is_below_sentence(line, following, edges)


def _is_in_sentence(line: Line, following: Line, room: float, width: float) -> bool:
    """Whether a line that has room for a word is broken in the middle of a sentence all the same.

    By hand, behind most of its width; or the word is wider than others of as many letters.
    """
    end, text = line.text[-1], following.text
    if not (end.isalpha() or end == ",") or " " not in text:
        return False
    if end == ",":
        is_list = text.endswith((",", ";"))  # of items, or arguments
        return text[0].islower() and room < _BROKEN_BY_HAND * width and not is_list
    if text[0].islower() or line.text.rpartition(" ")[2] in _GOES_ON:
        return room < _BROKEN_BY_HAND * width
    is_wide = line.right - line.left > _PROSE * (line.size or line.height)
    is_word = text[0].isalpha() and not text[:2].isupper()
    return is_wide and is_word and room < _WIDE_WORD * room_needed(following)


def _is_below_sentence(line: Line, following: Line, edges: Edges) -> bool:
    """Whether the place of a line below the end of a sentence is not that of a paragraph."""
    size = line.size or line.height
    indent, start = (
        following.left - line.left,
        edges[id(following)][3] if id(following) in edges else "",
    )
    if abs(indent) < AT_ONE_PLACE * size:  # two first lines
        return start != "first"
    is_indented = INDENT[0] * size < indent < INDENT[1] * size
    return not is_indented or start == "hanging" or _ITEM.match(line.text) is not None


def _start(line: Line, edges: Edges) -> Start:
    return edges[id(line)][3] if id(line) in edges else ""


def _begins_anew(line: Line, following: Line) -> bool:
    """Whether words and gaps say that the line below begins a note, an item, an entry or a row."""
    above, text = line.text, following.text
    if following.kind == "note" and _begins_note(above, text):
        return True
    if text[0].isdigit() and _counts_on(above, text):  # numbered lines, as of code
        return True
    if (not text[0].isalpha() or text[1:2] in _BEHIND_ITEM) and _ITEM.match(text):
        return not _is_dash_in_sentence(line, following)
    if above[-1].isdigit() and (
        above[-_LONGEST_END:].rstrip("0123456789 ").endswith(_LEADERS) or _are_entries(above, text)
    ):
        return True
    if _LABEL.match(above) and _LABEL.match(text):  # fields of a form
        return above[0].islower() or not text[0].islower()
    if above[-1] == ",":
        return False
    is_justified = abs(line.right - following.right) < GRAIN and above[-1].isalpha()
    if _has_gaps(following):
        return _has_gaps(line) and not (is_justified and text[0].islower())
    return not text[0].islower() and _has_gaps(line, _LOOSER if is_justified else _LOOSE)


def _are_entries(above: str, text: str) -> bool:
    """Whether two lines end in pages, as those of an index or of a table of contents do."""
    page, next_page = (_PAGE.search(line[-_LONGEST_END:]) for line in (above, text))
    if page is None or next_page is None:
        return False
    if page[1] == next_page[1] == ",":
        return True
    # A title may end in two years, as `from 1996 to 2021`.
    return not text[0].islower() and 0 <= int(next_page[2]) - int(page[2]) <= _NEXT


def _begins_note(above: str, text: str) -> bool:
    """Whether a line of a footnote begins the next one: a figure may also go on in a sentence."""
    if NOTE.match(text) is None:
        return False
    return _counts_on(above, text) or above.endswith(END_OF_SENTENCE)


def _counts_on(above: str, text: str) -> bool:
    """Whether two lines begin with consecutive numbers."""
    number, next_number = _NUMBER.match(above), _NUMBER.match(text)
    return bool(number and next_number and int(number[0]) + 1 == int(next_number[0]))


def _is_dash_in_sentence(line: Line, following: Line) -> bool:
    """Whether a dash at the beginning of a line belongs to the sentence above: no item ends there,
    and none begins with a dash."""
    above, text = line.text, following.text
    return (
        _DASH.match(text) is not None
        and text[2:3].islower()
        and (above[-1].isalnum() or above[-1] in ")”»")
        and _DASH.match(above) is None
    )


def _is_mark_smaller(line: Line, following: Line) -> bool:
    """Whether lines of one size seem to differ because the first begins with a bullet, with the
    mark of a note, or with a word in other type."""
    if line.kind == "note":
        return NOTE.match(line.text) is not None
    difference = abs(line.height - following.height)
    if difference <= 0.02 * line.height:  # its size is that of a word in other type
        return True
    is_as_high = difference <= 0.1 * line.height
    return is_as_high and _ITEM.match(line.text) is not None


def _has_gaps(line: Line, least: float = _LOOSE) -> bool:
    """Whether a line is much wider than its text, as a row of a table is."""
    size = max(line.size, _SIZE * line.height)  # the first character may be a raised mark
    is_narrow = line.text.isascii() or max(line.text) < CJK
    return is_narrow and line.right - line.left > least * len(line.text) * size


def goes_on_above(line: Line, following: Line) -> bool:
    """Whether a sentence goes on at the top of the next column."""
    return (
        line.kind == following.kind == "text"
        and not line.level
        and not following.level
        and following.text[:1].islower()
        and not line.text.endswith(END_OF_SENTENCE)
        and abs(line.size - following.size) < 0.1 * line.size
        and len(line.text) > _NARROWEST
    )


def joint(line: Line, following: Line) -> str:
    """What stands between two parts of a text: a space; nothing in addresses, or in Chinese and
    Japanese."""
    if line.ends_word:
        return " "
    if is_broken_address(line.text, following.text):
        return ""
    return "" if line.text[-1:] >= CJK and following.text[:1] >= CJK else " "
