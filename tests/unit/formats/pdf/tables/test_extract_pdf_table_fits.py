"""PDF: cells of tables without rules that only their columns tell apart, or put together."""

import io

from ingest.formats.registry import extract as extract_file
from tests.builders.make_pdf import at, document, grid

Cell = tuple[float, float, str]
"""x, y and text."""


def extract(*cells: Cell) -> str:
    content = b"".join(at(x, y, text, size=10) for x, y, text in cells)
    return extract_file(io.BytesIO(document(content)), name="a.pdf").text


def rows(*rows: tuple[str, ...], xs: tuple[float, ...], top: float = 700) -> list[Cell]:
    return [
        (x, top - 18 * place, cell)
        for place, row in enumerate(rows)
        for x, cell in zip(xs, row, strict=False)
        if cell
    ]


_GOODS = (("Bolt", "12", "0.10", "1.20"), ("Nut", "40", "0.05", "2.00"), ("Rod", "3", "4", "12"))
_XS = (50, 200, 300, 330)
_FIGURES = (50, 100, 170, 240)


def test_headers_that_stand_close_go_to_their_columns() -> None:
    header = [(50, 718, "Item"), (200, 718, "Qty"), (299, 718, "Price"), (329, 718, "Amount")]

    assert extract(*header, *rows(*_GOODS, xs=_XS)) == (
        "| Item | Qty | Price | Amount |\n|---|---|---|---|\n| Bolt | 12 | 0.10 | 1.20 |\n"
        "| Nut | 40 | 0.05 | 2.00 |\n| Rod | 3 | 4 | 12 |"
    )


def test_figures_that_stand_close_do_not_end_the_table() -> None:
    last = rows(("All", "55", "9,999.15", "15.2"), xs=(50, 200, 288, 330), top=646)

    assert extract(*rows(*_GOODS, xs=_XS), *last).endswith("| All | 55 | 9,999.15 | 15.2 |")


def test_a_total_reaches_over_empty_cells() -> None:
    goods = rows(*(("Item", "Qty", "Price", "Sum"), *_GOODS), xs=(50, 150, 220, 330))

    assert extract(
        *goods, (140, 628, "Total of all the goods above"), (330, 628, "15.20")
    ).endswith("|  | Total of all the goods above |  | 15.20 |")


def test_a_header_is_found_below_lines_of_other_columns() -> None:
    letter = rows(
        ("Bill date", "2 May"),
        ("Due date", "2 June"),
        ("Client", "7"),
        ("Order", "PO-9-A"),
        xs=(50, 110),
        top=772,
    )
    goods = (
        ("Item", "", "Qty", "Sum"),
        ("Tool", "", "1", "5"),
        ("Long nuts and bolts", "", "2", "9"),
    )

    found = extract(*letter, *rows(*goods, xs=(50, 110, 300, 400)))

    assert "| Item | Qty | Sum |\n|---|---|---|\n| Tool | 1 | 5 |\n| Long nuts" in found
    assert "Order PO-9-A" in found


def test_a_currency_apart_from_its_amount_is_no_column() -> None:
    cells = rows(
        ("Week", "$", "42.30"),
        ("Month", "", "183.30"),
        ("Year", "", "2200"),
        ("All", "", "9"),
        xs=(50, 300, 350),
    )

    assert extract(*rows(("Period", "Amount"), xs=(50, 330), top=718), *cells).startswith(
        "| Period | Amount |\n|---|---|\n| Week | $ 42.30 |\n| Month | 183.30 |\n"
    )


def test_a_header_beside_its_values_is_above_them() -> None:
    header = rows(("Period", "Add more", "Tax"), xs=(50, 300, 450), top=718)
    values = (("Week", "42.30", "1"), ("Month", "183.30", "2"), ("Year", "2200", "3"))

    found = extract(*header, *rows(*values, xs=(50, 350, 450)))

    assert found.startswith("| Period | Add more | Tax |\n|---|---|---|\n| Week | 42.30 | 1 |")


def test_a_column_without_values_keeps_its_header() -> None:
    header = rows(("Period", "Notes", "", "Tax"), xs=(50, 200, 350, 450), top=718)
    values = (("Week", "42.30", "1"), ("Month", "183.30", "2"), ("Year", "2200", "3"))

    found = extract(*header, *rows(*values, xs=(50, 350, 450)))

    assert "| Period | Notes |  | Tax |" in found


def test_a_cell_that_begins_above_its_row_is_in_it() -> None:
    """Cells stand in the middle of rows that are far from each other."""
    table = [
        *rows(("Code", "Product", "Sum"), ("A-1", "Hinge", "12.00"), xs=(50, 150, 300)),
        (50, 632, "A-2"),
        *(
            (150, 632 + 12 * place, text)
            for place, text in ((2, "Door"), (1, "handle"), (0, "set"))
        ),
        (150, 620, "of"),
        (150, 608, "two"),
        (300, 632, "49.80"),
        *rows(("A-3", "Lock", "31.00"), xs=(50, 150, 300), top=580),
    ]

    assert extract(*table) == (
        "| Code | Product | Sum |\n|---|---|---|\n| A-1 | Hinge | 12.00 |\n"
        "| A-2 | Door handle set of two | 49.80 |\n| A-3 | Lock | 31.00 |"
    )


def spaced(*rows: tuple[str, ...], xs: tuple[float, ...], pitch: float) -> list[Cell]:
    return [
        (x, 700 - pitch * place, cell)
        for place, row in enumerate(rows)
        for x, cell in zip(xs, row, strict=True)
        if cell
    ]


def test_rows_far_from_each_other_at_the_same_distance_are_a_table() -> None:
    goods = spaced(("Item", "Qty", "Price", "Sum"), *_GOODS, xs=_XS, pitch=36)

    assert extract(*goods) == (
        "| Item | Qty | Price | Sum |\n|---|---|---|---|\n| Bolt | 12 | 0.10 | 1.20 |\n"
        "| Nut | 40 | 0.05 | 2.00 |\n| Rod | 3 | 4 | 12 |"
    )


def test_a_cell_that_ends_close_to_the_next_is_told_from_it_by_later_rows() -> None:
    bookings = (
        ("01/02", "Opening balance", "", "310.44"),
        ("02/02", "Salary", "", "310.44"),
        ("03/02", "CARD PAYMENT TO STORE 3021", "45.12", "265.32"),
        ("09/02", "CITY WATER", "61.00", "204.32"),
        ("14/02", "ATM", "200.00", "4.32"),
    )

    found = extract(*spaced(*bookings, xs=(50, 90, 253, 340), pitch=18))

    assert found == (
        "| 01/02 | Opening balance |  | 310.44 |\n|---|---|---|---|\n"
        "| 02/02 | Salary |  | 310.44 |\n"
        "| 03/02 | CARD PAYMENT TO STORE 3021 | 45.12 | 265.32 |\n"
        "| 09/02 | CITY WATER | 61.00 | 204.32 |\n| 14/02 | ATM | 200.00 | 4.32 |"
    )


def test_a_header_whose_cells_all_stand_close_is_split() -> None:
    header = ((50, 718, "Item"), (75, 718, "Quantity"), (118, 718, "Price"), (146, 718, "Sum"))
    goods = spaced(*_GOODS, xs=(50, 91, 121, 150), pitch=18)

    assert extract(*header, *goods).startswith(
        "| Item | Quantity | Price | Sum |\n|---|---|---|---|\n| Bolt | 12 | 0.10 | 1.20 |"
    )


def test_a_ruled_table_is_no_cell_of_what_is_beside_it() -> None:
    rates = rows(
        ("Rate", "Net"), ("23%", "121"), ("8%", "50"), ("All", "171"), xs=(54, 124), top=664
    )
    paid = (("Paid", "0.00"), ("To pay", "148.83"), ("Sum", "148.83"), ("Tip", "1.00"))
    cells = [*rates, *rows(*paid, xs=(300, 400))]
    content = b"".join(at(x, y, text, size=10) for x, y, text in cells)
    ruled = grid((50, 120, 190), (676, 658, 640, 622, 604))

    found = extract_file(io.BytesIO(document(content + ruled)), name="a.pdf").text

    assert "| Rate | Net |\n|---|---|\n| 23% | 121 |\n| 8% | 50 |\n| All | 171 |" in found
    assert "| Paid | 0.00 |\n|---|---|\n| To pay | 148.83 |" in found


def test_two_tables_that_fit_the_same_columns_are_found_apart() -> None:
    """All of it is no table: most cells are empty."""
    header = ("No.", "Description", "Date", "Quantity", "Price", "VAT", "Amount")
    goods = rows(header, ("1908-S", "Chair", "02/17", "3", "191.00", "19", "573"), xs=(
        50, 100, 210, 280, 350, 430, 480))  # fmt: skip
    goods += [(100, 664, "blue"), (280, 664, "pieces")]
    totals = rows(("Subtotal", "573.00"), ("19% VAT", "108.87"), ("Total", "681.87"), xs=(
        350, 480), top=632)  # fmt: skip

    found = extract(*goods, *totals)

    assert "| Subtotal | 573.00 |\n|---|---|\n| 19% VAT | 108.87 |\n| Total | 681.87 |" in found
    assert "|  |  |" not in found.partition("Subtotal")[2]


def test_numbered_entries_of_contents_with_dots_are_no_table() -> None:
    names = ("The large pumps", "Rods of all kinds", "Oil for the pumps")
    entries = [(f"3.{n}", f"{name} {'. ' * 40}", f"{n + 6}") for n, name in enumerate(names, 1)]
    found = extract(*rows(*entries, xs=(50, 90, 400)))

    assert "|" not in found
    assert "3.2 Rods of all kinds . . ." in found


def test_figures_behind_dots_are_a_table() -> None:
    dots = ". " * 25
    entries = (
        ("1", "Sales", dots, "900", "980"),
        ("2", "Cost", dots, "700", "640"),
        ("3", "Tax", dots, "90", "70"),
    )
    found = extract(*rows(*entries, xs=(50, 90, 200, 400, 470)))

    assert "| 900 | 980 |" in found


def test_notes_beside_the_numbered_lines_of_a_listing_are_no_labels() -> None:
    marks = ("auto", "values", "answer", "other")
    code = ("2438 begin group", "2439 set values", "2440 ask again", "2441 end group")
    blocks = [
        rows(*((text,) for text in block), xs=(x,)) for x, block in ((50, marks), (200, code))
    ]
    found = extract(*(cell for block in blocks for cell in block))

    assert "values: 2439" not in found


def test_a_header_that_stands_close_below_figures_begins_a_table() -> None:
    figures = ("0.0200", "1.0234", "0.0912")
    names = ("age", "sex", "loss")
    first, second = (
        rows(*((name, *figures) for name in names), xs=_FIGURES, top=top) for top in (700, 632)
    )
    found = extract(*first, (100, 650, "exp(coef) exp(-coef) lower .95"), *second)

    assert "0.0912 |\n\nexp(coef)" in found
    assert found.count("| age | 0.0200 | 1.0234 | 0.0912 |") == 2
