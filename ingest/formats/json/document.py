"""JSON and JSON Lines as records (json/records.py); what cannot be parsed stays unchanged.

Numbers keep their spelling, duplicate keys are kept. Elements of a top-level list, and lines, are
parsed one at a time.
"""

import json
import re
from collections.abc import Iterator

from ingest.formats import media_types as types
from ingest.formats.common.input_file import Extraction, InputFile
from ingest.formats.common.markdown_writer import Lines, read_text
from ingest.formats.json.records import Object, Value, write, write_item
from ingest.optional_steps import improve

_VERSION = "json 1"
_MOST_FAILURES = 1000  # lines; each may make the parser scan the rest of the file
_BLANK = re.compile(r"[ \t\n\r\x1e\0]*")
_DECODER = json.JSONDecoder(
    object_pairs_hook=Object, parse_float=str, parse_int=str, parse_constant=str, strict=False
)
_UNREADABLE = (ValueError, RecursionError)
"""Parser errors: invalid syntax, or more levels than the stack allows."""


def extract(source: InputFile) -> Extraction:
    """Records, or the text itself with the warning `invalid_json`. Raises Permanent `too_large`."""
    text, encoding = read_text(source)
    text = text.removeprefix("\ufeff")
    read = _lines if source.media_type == types.JSON_LINES else _document
    body, is_valid = improve("layout", lambda: read(text), otherwise=lambda: (text, True))
    return Extraction(
        parts=[body],
        extractor=_VERSION,
        encoding=encoding,
        warnings=() if is_valid else ("invalid_json",),
    )


def _document(text: str) -> tuple[str, bool]:
    out = Lines()
    try:
        start = _skip(text, 0)
        if text.startswith("[", start):
            for element in _elements(text, start):
                write_item(element, out)
        else:
            value, end = _DECODER.raw_decode(text, start)
            if _skip(text, end) < len(text):
                return _lines(text)
            write(value, out)
    except _UNREADABLE:
        return text, False
    return str(out), True


def _elements(text: str, start: int) -> Iterator[Value]:
    """Yield elements of the list from `start` to the end. Raises ValueError if it is not a list."""
    position = _skip(text, start + 1)
    is_first = True
    while not text.startswith("]", position):
        if not is_first:
            if not text.startswith(",", position):
                raise ValueError("no comma between elements")
            position = _skip(text, position + 1)
        value, end = _DECODER.raw_decode(text, position)
        yield value
        position = _skip(text, end)
        is_first = False
    if _skip(text, position + 1) < len(text):
        raise ValueError("text after the list")


def _lines(text: str) -> tuple[str, bool]:
    """Consecutive values, each on one or more lines; lines that cannot be parsed stay text."""
    out = Lines()
    failures = 0
    position = _skip(text, 0)
    while position < len(text):
        try:
            value, end = _DECODER.raw_decode(text, position)
        except _UNREADABLE:
            failures += 1
            end = text.find("\n", position) if failures < _MOST_FAILURES else -1
            end = len(text) if end < 0 else end
            out.text(text[position:end].rstrip())
        else:
            write_item(value, out)
        position = _skip(text, end)
    return str(out), not failures


def _skip(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position
