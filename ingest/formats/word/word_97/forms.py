"""Check boxes and lists of forms, whose state lies in the stream Data ([MS-DOC] 2.9.78)."""

import struct
from typing import Final

from lxml import etree

from ingest.formats.office.xml_tree import storable
from ingest.formats.word.word_97.tree import add, element

_HEAD: Final = struct.Struct("<IH")  # sizes of the whole and of its header
_FORM: Final = struct.Struct("<IHHH")  # version, state, and sizes of the text and of the box
_VERSION: Final = 0xFFFFFFFF
_BOX, _LIST = 1, 2
_UNDECIDED: Final = 25  # then the default counts
_STRINGS: Final = 5  # between the default and the entries: format, helps and macros
_MOST_ENTRIES: Final = 25


def read_form(data: bytes, at: int) -> etree._Element | None:
    """A `w:ffData` with the chosen state; None for a field of text, or what is no form.

    Raises struct.error if it is cut off.
    """
    _, head = _HEAD.unpack_from(data, at)
    version, bits, _, _ = _FORM.unpack_from(data, at + head)
    kind, state = bits & 3, bits >> 2 & 0x1F
    if version != _VERSION or kind not in (_BOX, _LIST):
        return None
    _, at = _string(data, at + head + _FORM.size, ended=True)
    if state == _UNDECIDED:
        (state,) = struct.unpack_from("<H", data, at)
    form = element("ffData")
    if kind == _BOX:
        add(add(form, "checkBox"), "checked", val=str(state and 1))
        return form
    at += 2
    for _ in range(_STRINGS):
        _, at = _string(data, at, ended=True)
    listed = add(form, "ddList")
    add(listed, "result", val=str(state))
    (count,) = struct.unpack_from("<2xH", data, at)
    at += 6
    for _ in range(min(count, _MOST_ENTRIES)):
        entry, at = _string(data, at)
        add(listed, "listEntry", val=storable(entry))
    return form


def _string(data: bytes, at: int, *, ended: bool = False) -> tuple[str, int]:
    """A string and where it ends, behind its zero if it is `ended` by one."""
    (length,) = struct.unpack_from("<H", data, at)
    end = at + 2 + 2 * length
    return data[at + 2 : end].decode("utf-16-le", "replace"), end + (2 if ended else 0)
