"""Check boxes and lists of forms in an RTF file, for which it has no text: written before it is
read. LibreOffice leaves out their state, and then nothing is written."""

import re
from itertools import islice
from typing import Final

_BOX: Final = re.compile(rb"\bFORM(?:CHECKBOX|DROPDOWN)\b")
_FIELD: Final = b"{\\field"
_RESULT: Final = b"\\fldrslt"
_FORM: Final = b"\\formfield"
_LONGEST: Final = 20_000  # bytes of a field with its form
_MOST: Final = 5000  # fields
_STATE: Final = re.compile(rb"\\ff(res|defres)(\d{1,5})")
_ENTRY: Final = re.compile(rb"\{\\\*\\ffl ((?:[^{}\\]++|\\[^a-z]|\\u-?\d++ ?+\??+)*+)\}")
_UNDECIDED: Final = 25  # then the default counts


def write_choices(data: bytes) -> bytes:
    """The file with `[x]`, `[ ]` or the chosen entry in front of each field that states it."""
    pieces: list[bytes] = []
    end = unused = 0
    for found in islice(_BOX.finditer(data), _MOST):
        start = data.rfind(_FIELD, max(unused, found.start() - _LONGEST), found.start())
        stop = data.find(_RESULT, found.end(), found.end() + _LONGEST)
        form = data[found.end() : stop] if stop >= 0 else b""
        is_code = data.find(_RESULT, max(start, 0), found.start()) < 0  # and no word of the text
        if start >= 0 and is_code and _FORM in form:
            pieces += [data[end:start], b"{", _chosen(found[0], form), b"}{}"]
            end = start
            unused = start + 1
    return b"".join([*pieces, data[end:]])


def _chosen(kind: bytes, form: bytes) -> bytes:
    states = {name: int(state) for name, state in _STATE.findall(form)}
    state = states.get(b"res", _UNDECIDED)
    state = states.get(b"defres", 0) if state == _UNDECIDED else state
    if kind.endswith(b"CHECKBOX"):
        return b"[x]" if state else b"[ ]"
    entries: list[bytes] = _ENTRY.findall(form)
    return entries[state] if state < len(entries) else b""
