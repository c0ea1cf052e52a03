"""PDF: rows of tables and forms whose cells have different numbers of lines."""

import io

import pytest

from ingest.formats.pdf.tables import rows
from ingest.formats.registry import extract as extract_file
from tests.builders.make_pdf import at, document, grid, lines


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


def test_rows_of_figures_beside_a_cell_that_spans_them_stay_apart() -> None:
    table = row(700, (50, "Layers"), (120, "Language"), (250, "Score"), (350, "Seconds"))
    for y, layers, figures in (
        (684, "6", ("0.965", "2.73", "0.969", "5.39")),
        (652, "4", ("0.938", "1.97", "0.952", "3.77")),
    ):
        table += row(y, (120, "OTSL"), (250, figures[0]), (350, figures[1]))
        table += row(y - 6, (50, layers))
        table += row(y - 12, (120, "HTML"), (250, figures[2]), (350, figures[3]))

    assert extract(table) == (
        "| Layers | Language | Score | Seconds |\n|---|---|---|---|\n"
        "| 6 | OTSL | 0.965 | 2.73 |\n|  | HTML | 0.969 | 5.39 |\n"
        "| 4 | OTSL | 0.938 | 1.97 |\n|  | HTML | 0.952 | 3.77 |"
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


@pytest.mark.parametrize("end", ["it!\u201d This makes a loop", "all those and say so"])
def test_lines_of_prose_with_a_colon_are_no_fields(end: str) -> None:
    quote = (
        "They asked the harbour: \u201cWhatever you see, we want",
        f"more of {end}: if a cloud looks like",
        "a bird, the network will find a bird: it sees more birds.",
    )

    assert extract(lines(50, 700, *quote)) == " ".join(quote)


def test_justified_lines_with_wide_spaces_are_no_rows() -> None:
    spread = (62, "This"), (125, "document"), (218, "follows"), (298, "the steps of the")
    full = "Harbour Board of Whitby, who have met in the spring, to say what to do"
    prose = row(700, *spread) + row(688, (50, full)) + row(676, (50, full)) + row(664, (50, full))

    assert "follows the steps of the Harbour Board" in extract(prose)


def test_many_baselines_that_overlap_are_each_compared_with_few_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pieces = [[rows.Piece(0, 50, 80, -5.0 * index, 10, "Pump")] for index in range(200)]
    compared: list[float] = []
    is_half_line = rows.is_half_line

    def counted(upper: rows.Piece, lower: rows.Piece) -> bool:
        compared.append(upper.middle)
        return is_half_line(upper, lower)

    monkeypatch.setattr(rows, "is_half_line", counted)

    starts = rows.first_baselines(pieces, [500.0])

    assert starts[:3] == [0, 9, 18]
    assert len(compared) <= 10 * len(pieces)


def test_rows_without_rules_below_a_ruled_header_keep_their_columns() -> None:
    """Only the header is divided by rules; a box without any is below it."""
    rows = (
        ((150, "Item"), (310, "Count"), (385, "Price"), (460, "Amount")),
        ((54, "Notice in the paper of 6 June"), (500, "45,93")),
        ((54, "Proof as a file"), (320, "1"), (400, "0,75"), (500, "0,75")),
        ((54, "Proof on paper"), (320, "2"), (400, "3,50"), (500, "7,00")),
        ((385, "Net:"), (500, "53,68")),
    )
    content = b"".join(
        at(x, 700 - 25 * place, text, size=10) for place, row in enumerate(rows) for x, text in row
    )
    header = grid((45, 298, 373, 449, 550), (716, 692))
    box = grid((45, 550), (692, 590))

    assert extract(content + header + box).endswith(
        "| Notice in the paper of 6 June |  |  | 45,93 |\n"
        "| Proof as a file | 1 | 0,75 | 0,75 |\n"
        "| Proof on paper | 2 | 3,50 | 7,00 |\n"
        "|  |  | Net: | 53,68 |"
    )


def test_names_above_the_second_part_of_a_table_are_no_part_of_the_row_above() -> None:
    table = (
        row(700, (50, "Phone"), (200, "425"), (300, "Year"), (420, "2022"))
        + row(684, (50, "Claim"), (200, "1008"), (300, "Miles"), (420, "9800"))
        + row(668, (200, "Hours"), (300, "Rate"), (420, "Cost"))
        + row(652, (50, "Parts"), (420, "2100"))
        + row(636, (50, "Labour"), (200, "2"), (300, "150"), (420, "300"))
    )

    found = extract(table)

    assert "|  | Hours | Rate | Cost |\n| Parts |  |  | 2100 |\n| Labour | 2 | 150 | 300 |" in found
    assert "| Claim | 1008 | Miles | 9800 |" in found
