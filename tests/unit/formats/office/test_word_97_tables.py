"""Tables of Word 97."""

import io
import struct

import pytest

from ingest.formats.registry import extract
from ingest.model import Document
from tests.builders.make_word_97 import (
    Paragraph,
    cells,
    long,
    paragraph,
    switch,
    word_97,
)


def _read(*arguments: object, **options: object) -> Document:
    return extract(io.BytesIO(word_97(*arguments, **options)), name="a.doc")  # type: ignore[arg-type]


def test_tables_have_rows_and_merged_cells() -> None:
    borders = [0, 1000, 2000, 3000]
    body = [
        *cells("Valve", "Pressure", "Remark", borders=borders),
        *cells("V1", "10 bar", "fine", borders=[0, 1010, 1990, 3000], flags=[0x60]),
        *cells("", "both", borders=[0, 1000, 3000], flags=[0x20]),
        paragraph("After it."),
    ]

    assert _read({"body": body}).text == (
        "| Valve | Pressure | Remark |\n|---|---|---|\n| V1 | 10 bar | fine |\n"
        "| V1 | both | both |\n\nAfter it."
    )


@pytest.mark.parametrize("flags", [(1, 2, 1, 2), (2, 1, 2, 1), (3, 1, 3, 1)])
def test_cells_merged_away_may_have_either_flag(flags: tuple[int, ...]) -> None:
    """The description of Word 97 and [MS-DOC] contradict each other."""
    borders = [0, 1000, 2000, 3000, 4000]
    body = [
        *cells("Valve", "Place", "Pressure", "Remark", borders=borders),
        *cells("V1", "", "10 bar", "", borders=borders, flags=flags),
        *cells("V2", "cellar", "alone", "fine", borders=borders, flags=[0, 2, 0, 1]),
        *cells("V3 and V4", borders=[0, 4000]),
    ]

    assert _read({"body": body}).text == (
        "| Valve | Place | Pressure | Remark |\n|---|---|---|---|\n| V1 | V1 | 10 bar | 10 bar |\n"
        "| V2 | cellar | alone | fine |\n| V3 and V4 | V3 and V4 | V3 and V4 | V3 and V4 |"
    )


def test_borders_out_of_line_merge_no_cells_of_rows_with_as_many() -> None:
    body = [
        *cells("Code", "Name", borders=[0, 1000, 3000]),
        *cells("B1", "First", borders=[0, 1400, 3200]),
        *cells("B2", "First", borders=[100, 1000, 3000]),
    ]

    assert _read({"body": body}).text == (
        "| Code | Name |\n|---|---|\n| B1 | First |\n| B2 | First |"
    )


def test_a_table_in_a_cell_is_text_of_the_cell() -> None:
    inner = switch(0x2416) + long(0x6649, 2)
    rows = [
        [
            Paragraph([f"{text}\r"], inner + switch(0x244B)),
            Paragraph([f"{text}2\r"], inner + switch(0x244B)),
            Paragraph(["\r"], inner + switch(0x244B) + switch(0x244C)),
        ]
        for text in "xy"
    ]
    body = [
        *cells("A", "B", borders=[0, 1000, 2000]),
        Paragraph(["Before\r"], switch(0x2416)),
        *rows[0],
        *rows[1],
        *cells("", "b", borders=[0, 1000, 2000]),
    ]

    assert "| Before x x2; y y2 | b |" in _read({"body": body}).text


def test_a_wide_row_may_state_its_cells_elsewhere() -> None:
    row = cells("a", "b", borders=[0, 500, 2000])
    stated = row[-1].changes
    elsewhere = Paragraph(["\x07"], long(0x6646, 4))
    body = [*cells("x", "y", "z", borders=[0, 500, 900, 2000]), *row[:-1], elsewhere]

    document = _read({"body": body}, data=b"\0" * 4 + struct.pack("<H", len(stated)) + stated)

    assert "| a | b | b |" in document.text
