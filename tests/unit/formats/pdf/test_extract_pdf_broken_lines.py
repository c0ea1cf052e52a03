"""PDF: pages with each character set by itself, which pdfium takes for vertical text."""

import io

import pytest
from pdfminer.fontmetrics import FONT_METRICS

from ingest.formats.pdf.layout import rotation
from ingest.formats.pdf.layout.broken_lines import mend_broken_lines
from ingest.formats.pdf.layout.text_lines import Line
from ingest.formats.registry import extract as extract_file
from tests.builders.make_pdf import at, document

_WIDTHS = FONT_METRICS["Helvetica"][1]
_SIZE = 12


def single(x: float, y: float, text: str) -> bytes:
    """A line whose characters are objects of their own; spaces are only gaps."""
    drawn = b""
    for character in text:
        if character != " ":
            drawn += at(x, y, character, size=_SIZE)
        x += round(_WIDTHS[character] * _SIZE / 1000)
    return drawn


def extract(content: bytes) -> str:
    return extract_file(io.BytesIO(document(content)), name="a.pdf").text


def receipt(*rows: tuple[str, ...], xs: tuple[float, ...]) -> str:
    """Rows set so close that they fill the height of their text."""
    return extract(
        b"".join(
            single(x, 700 - 13 * place, cell)
            for place, row in enumerate(rows)
            for x, cell in zip(xs, row, strict=True)
        )
    )


def test_rows_of_a_receipt_are_a_table() -> None:
    found = receipt(
        ("Item", "Qty", "Price"),
        ("Flat white", "2", "7.00"),
        ("Croissant", "1", "3.20"),
        ("Total", "3", "10.20"),
        xs=(40, 420, 500),
    )

    assert found == (
        "| Item | Qty | Price |\n|---|---|---|\n| Flat white | 2 | 7.00 |\n"
        "| Croissant | 1 | 3.20 |\n| Total | 3 | 10.20 |"
    )


@pytest.mark.parametrize("number", ["RE-2024-17", "1,082.50", "-0.5"])
def test_values_stay_with_their_labels(number: str) -> None:
    found = receipt(("Number", number), ("Net", "5"), ("VAT", "1"), ("Gross", "6"), xs=(40, 500))

    assert any("Number" in line and number in line for line in found.splitlines())
    assert any("VAT" in line and "1" in line for line in found.splitlines())


def test_parts_of_formulas_with_raised_figures_are_left_to_be_marked() -> None:
    """`b` and `2 (n` begin at the same height, but the second one is higher by its figure."""
    terms = [
        part
        for y in (700.0, 680.0, 660.0)
        for part in (
            Line("b", left=50, top=y + 11.2, right=55, bottom=y, size=12),
            Line("2 (n", left=55, top=y + 11.9, right=71, bottom=y, size=12),
        )
    ]

    assert mend_broken_lines(0, 0, terms) is terms


def test_lines_that_pdfium_leaves_together_come_apart() -> None:
    """From the last letter of the last header on, pdfium breaks no line."""
    rows = [
        ("Earnings", "Amount", "Deductions", "Amount"),
        ("Basic salary", "3,200.00", "Income tax", "612.30"),
        ("Overtime", "240.50", "Insurance", "301.20"),
        ("Bonus", "500.00", "Pension", "160.00"),
    ]
    content = b"".join(
        single(x, 700 - 20 * place, row[column])
        for columns in (((40, 0), (220, 1)), ((310, 2), (500, 3)))
        for place, row in enumerate(rows)
        for x, column in columns
    )

    assert extract(content) == (
        "| Earnings | Amount | Deductions | Amount |\n|---|---|---|---|\n"
        "| Basic salary | 3,200.00 | Income tax | 612.30 |\n"
        "| Overtime | 240.50 | Insurance | 301.20 |\n| Bonus | 500.00 | Pension | 160.00 |"
    )


def test_single_figures_below_each_other_are_no_word() -> None:
    columns = (("Item", "Nut", "Bolt", "Rod", "Total"), ("Qty", "3", "4", "9", "16"))
    content = b"".join(
        at(x, 700 - 15 * place, text, size=10)
        for x, column in zip((60, 300), columns, strict=True)
        for place, text in enumerate(column)
    )

    assert extract(content) == (
        "| Item | Qty |\n|---|---|\n| Nut | 3 |\n| Bolt | 4 |\n| Rod | 9 |\n| Total | 16 |"
    )


def test_a_word_that_is_written_downwards_is_one() -> None:
    letters = b"".join(at(300, 700 - 11 * n, c, size=10) for n, c in enumerate("NORTH"))

    assert "NORTH" in extract(at(60, 700, "Item", size=10) + letters)


def test_a_line_that_is_a_whole_page_tells_its_turn_by_most_of_its_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its first characters are a page number as the page is held; the rest is turned."""
    monkeypatch.setattr(rotation, "turn_of", lambda _, character: 0 if character < 8 else 1)
    text = "208 " + "Outlays 3,446 7,215 " * 60

    assert rotation.upright_turn(0, [(text, 0, len(text))], [0, len(text) - 1], 3) == 1
