"""Comments, text boxes and links of Excel 97 sheets."""

import io
import struct

import pytest

from ingest.formats.registry import extract
from tests.builders.make_mail import ole
from tests.builders.make_sheets import biff_record as record
from tests.builders.make_sheets import excel_97_stream

_COMMENT, _BOX = 0x19, 0x06
_URL = bytes.fromhex("e0c9ea79f9bace118c8200aa004ba90b")
_FILE = bytes.fromhex("0303000000000000c000000000000046")
_CHART = record(0x0809, struct.pack("<4HII", 0x0600, 0x0020, 0, 0, 0, 0)) + record(0x000A, b"")


def drawn(kind: int, number: int, *pieces: str) -> bytes:
    """An object with its text, which may be cut into several records, and its fonts."""
    head = struct.pack("<HHHH", 0x15, 0x12, kind, number) + bytes(14)
    length = len("".join(pieces).encode("utf-16-le")) // 2
    text = record(0x01B6, struct.pack("<HH6xHHI", 0, 0, length, 16, 0))
    for at, piece in enumerate(pieces):
        encoded = piece.encode("utf-16-le") if at % 2 == 0 else piece.encode("latin-1")
        text += record(0x003C, bytes([1 - at % 2]) + encoded)
    return record(0x005D, head) + text + record(0x003C, b"\0\0A" + bytes(13))


def note(row: int, column: int, number: int, author: str) -> bytes:
    place = struct.pack("<HHHHHB", row, column, 0, number, len(author), 1)
    return record(0x001C, place + author.encode("utf-16-le") + b"\0")


def link(row: int, column: int, address: str, *, name: str = "", moniker: bytes = _URL) -> bytes:
    flags = 0x03 | (0x10 if name else 0)
    shown = (name + "\0").encode("utf-16-le")
    text = (address + "\0").encode("utf-16-le")
    data = struct.pack("<HHHH16xII", row, row, column, column, 2, flags)
    data += struct.pack("<I", len(shown) // 2) + shown if name else b""
    return record(0x01B8, data + moniker + struct.pack("<I", len(text)) + text)


def text(more: bytes) -> str:
    stream = excel_97_stream([["Name", "Site"], ["Ann", "Home"], ["Bob", "None"]], more=more)
    return extract(io.BytesIO(ole({"Workbook": stream})), name="a.xls").text


_ROWS = "## S\n\n- Name: Ann; Site: Home\n- Name: Bob; Site: None"


def test_comments_and_text_boxes_stand_below_the_rows() -> None:
    more = (
        drawn(_COMMENT, 3, "Žižka:\nasks ", "why")
        + _CHART
        + drawn(_BOX, 3, "A box")
        + drawn(_COMMENT, 4, "Far")
        + note(1, 0, 3, "Žižka")
        + note(70, 27, 4, "")
    )

    assert text(more) == (
        f"{_ROWS}\n\nA box\n\nComment by Žižka on A2: asks why\n\nComment on AB71: Far"
    )


@pytest.mark.parametrize("pieces", [("😀 😀 there",), ("😀 😀 ", "there")])
def test_characters_of_two_code_units_end_no_text_late(pieces: tuple[str, ...]) -> None:
    assert text(drawn(_COMMENT, 3, *pieces) + note(1, 0, 3, "")) == (
        f"{_ROWS}\n\nComment on A2: 😀 😀 there"
    )


def test_an_empty_record_ends_no_text() -> None:
    box = drawn(_BOX, 3, "A box")
    at = box.index(b"\x3c\x00")

    assert text(box[:at] + record(0x003C, b"") + box[at:]) == f"{_ROWS}\n\nA box"


@pytest.mark.parametrize("name", ["", "shown"])
def test_links_are_kept(name: str) -> None:
    more = _CHART + link(1, 1, "https://example.org/a", name=name)

    assert text(more) == _ROWS.replace("Home", "[Home](https://example.org/a)")


@pytest.mark.parametrize(
    "more",
    [link(1, 1, "a.xls", moniker=_FILE), record(0x01B8, bytes(40)), record(0x001C, bytes(6)),
     record(0x005D, b"") + record(0x01B6, bytes(2)), record(0x01B8, b"\xff" * 60)],
)  # fmt: skip
def test_other_links_and_damaged_records_cost_no_cells(more: bytes) -> None:
    assert text(more) == _ROWS
