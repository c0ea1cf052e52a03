"""PDF: rows of tables and forms whose cells have different numbers of lines."""

import io

import pytest

from ingest.formats.registry import extract as extract_file
from tests.builders.make_pdf import at, document


def extract(content: bytes) -> str:
    return extract_file(io.BytesIO(document(content)), name="a.pdf").text


def row(y: float, *cells: tuple[float, str]) -> bytes:
    return b"".join(at(x, y, text, size=10) for x, text in cells)


def test_cells_in_the_middle_of_a_row_of_two_lines_belong_to_it() -> None:
    table = (
        row(700, (50, "Item"), (110, "Description"), (350, "Price"), (420, "Total"))
        + row(684, (50, "Pump"), (110, "A pump for bilges, with a float"), (350, "140"))
        + row(684, (420, "280"))
        + row(668, (110, "Two technicians for one day, who come"))
        + row(662, (50, "Work"))
        + row(656, (110, "by ferry"))
        + row(662, (350, "600"), (420, "600"))
        + row(640, (50, "Bilge"))
        + row(628, (50, "hose"))
        + row(634, (110, "A hose of 20 m"), (350, "35"), (420, "105"))
    )

    assert extract(table) == (
        "| Item | Description | Price | Total |\n|---|---|---|---|\n"
        "| Pump | A pump for bilges, with a float | 140 | 280 |\n"
        "| Work | Two technicians for one day, who come by ferry | 600 | 600 |\n"
        "| Bilge hose | A hose of 20 m | 35 | 105 |"
    )


@pytest.mark.parametrize("x", [170, 260])
def test_each_label_of_a_form_begins_a_line(x: float) -> None:
    form = (
        row(700, (50, "Name of the owner:"), (x, "Jane Miller"))
        + row(684, (50, "Address:"), (x, "1 Quay Street, Whitby"))
        + row(668, (50, "Telephone:"), (x, "01947 600000"))
        + row(652, (50, "Length of the boat:"), (x, "9.80 m"))
    )

    assert extract(form) == (
        "Name of the owner: Jane Miller\nAddress: 1 Quay Street, Whitby\n"
        "Telephone: 01947 600000\nLength of the boat: 9.80 m"
    )


def test_text_below_a_date_at_the_right_edge_begins_a_line() -> None:
    cv = (
        row(700, (50, "Engineer, Quay Company"), (330, "2016 \N{EN DASH} 2020"))
        + row(684, (50, "Wrote the service that plans the berths of ferries in eleven harbours"))
        + row(672, (50, "of two countries."))
        + row(650, (50, "Senior engineer, Harbour"), (330, "2020 \N{EN DASH} today"))
        + row(634, (50, "Led the move of all billing to a platform that costs half as much."))
    )

    text = extract(cv)

    assert "2016 \N{EN DASH} 2020\nWrote the service" in text
    assert "2020 \N{EN DASH} today\nLed the move" in text
    assert "harbours of two countries." in text
