"""PDF: listings in type of one width, and what is only set in such type."""

import io

import pytest

from ingest.formats.registry import extract as extract_file
from tests.builders.make_pdf import Sheet, at, document, lines

_FONTS = {"C": b"11 0 R"}
_COURIER = [b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>"]
_PITCH = 6.0  # points; Courier is 0.6 of its size wide
_PROSE = lines(50, 700, *["Some words of a text that goes on and on, line after line, and on."] * 8)
_CODE = (
    "def total(items):",
    "    return sum(",
    "        item.price * item.count",
    "        for item in items",
    "    )",
)


def extract(*sheets: Sheet | bytes) -> str:
    data = document(*sheets, fonts=_FONTS, extra=_COURIER)
    return extract_file(io.BytesIO(data), name="a.pdf").text


def typed(x: float, y: float, *rows: str) -> bytes:
    """Lines in type of one width, each placed at its indentation, as TeX and others do."""
    return b"".join(
        at(
            x + _PITCH * (len(row) - len(row.lstrip())),
            y - 12 * index,
            row.lstrip(),
            size=10,
            font="C",
        )
        for index, row in enumerate(rows)
        if row
    )


@pytest.mark.parametrize(
    "code",
    [
        _CODE,
        ("if (fd < 0) {", "  perror(name);", "", "  return 1;", "}"),
        ("CREATE TABLE part (", "    id int,", "    name text -- as it is written on it", ");"),
        ("$ tar -xf parts.tar", "$ cd parts", "$ ./configure --prefix=/usr && make"),
    ],
)
def test_a_listing_keeps_its_lines_and_its_indentation(code: tuple[str, ...]) -> None:
    text = extract(_PROSE + typed(80, 540, *code) + at(50, 400, "Text below."))

    assert text.endswith("\n\n```\n" + "\n".join(code) + "\n```\n\nText below.")


def test_a_listing_on_a_turned_page_is_one_too() -> None:
    turned = Sheet(
        content=b"q 0 1 -1 0 600 0 cm " + _PROSE + typed(80, 540, *_CODE) + b"Q",
        entries=b"/Rotate 90",
    )

    assert "```\n" + "\n".join(_CODE) + "\n```" in extract(turned)


def test_backticks_in_a_listing_do_not_end_it() -> None:
    code = ("```python", "print(1 + 1)", "```")

    assert "````\n" + "\n".join(code) + "\n````" in extract(_PROSE + typed(80, 540, *code))


def test_a_document_set_in_type_of_one_width_is_no_listing() -> None:
    assert "```" not in extract(typed(50, 700, *_CODE, *_CODE))


def test_prose_from_a_typewriter_is_no_listing() -> None:
    letter = ("Dear Sir,", "The pump came on Monday.", "It runs.", "Yours,", "J. Heron")

    assert "```" not in extract(_PROSE + typed(80, 540, *letter))


def test_formulas_in_the_type_of_the_text_are_no_listing() -> None:
    formulas = ("power = (flow * head) / 367", "flow = power * 367 / head", "wear = sum(flow)")

    assert "```" not in extract(_PROSE + lines(80, 540, *formulas))


def test_a_command_of_one_line_stays_text() -> None:
    assert extract(_PROSE + typed(80, 540, "$ make install")).endswith("\n\n$ make install")
