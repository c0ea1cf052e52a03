"""PDF: tables with and without ruled lines, and what is none."""

import io

from ingest.formats.registry import extract as extract_file
from tests.builders.make_pdf import Sheet, at, document, grid, lines, rule


def extract(content: bytes) -> str:
    return extract_file(io.BytesIO(document(content)), name="a.pdf").text


def cells(xs: list[float], ys: list[float], rows: list[list[str]]) -> bytes:
    return b"".join(
        at(x + 4, y, text, size=10)
        for y, row in zip(ys, rows, strict=True)
        for x, text in zip(xs, row, strict=True)
        if text
    )


def test_a_ruled_table_is_markdown_with_the_text_around_it() -> None:
    table = grid([50, 150, 250, 350], [700, 680, 660, 640]) + cells(
        [50, 150, 250],
        [686, 666, 646],
        [["Item", "Price", "Stock"], ["Nut | bolt", "2", ""], ["Screw", "3", "40"]],
    )

    text = extract(at(50, 730, "Before the table.") + table + at(50, 600, "After it."))

    assert text == (
        "Before the table.\n\n"
        "| Item | Price | Stock |\n|---|---|---|\n"
        "| Nut \\| bolt | 2 |  |\n| Screw | 3 | 40 |\n\n"
        "After it."
    )


def test_ruled_table_cells_are_read_in_any_drawing_order() -> None:
    first = lines(54, 688, "Name", size=9) + lines(54, 668, "Ann", "Lee", size=9)
    second = lines(204, 688, "Town", size=9) + lines(204, 668, "Rome", size=9)

    text = extract(grid([50, 200, 350], [700, 680, 640]) + first + second)

    assert text == "| Name | Town |\n|---|---|\n| Ann Lee | Rome |"


def test_text_across_joined_cells_is_not_cut() -> None:
    rules = grid([50, 150, 250], [680, 660, 640]) + grid([50, 250], [700, 680])
    table = (
        rules
        + at(100, 686, "Joined heading", size=10)
        + cells([50, 150], [666, 646], [["a", "b"], ["c", "d"]])
    )

    assert "Joined heading" in extract(table)


def test_rules_around_a_form_with_few_words_make_no_table() -> None:
    text = extract(
        grid([50, 150, 250, 350, 450], [700, 680, 660, 640, 620])
        + cells([50, 350], [686, 626], [["Name", ""], ["", "Date"]])
    )

    assert "|" not in text
    assert "Name" in text
    assert "Date" in text


def test_rules_through_words_are_squared_paper_and_no_table() -> None:
    prose = ["Each of the words in this note", "is written on paper for sums,", "over its lines."]
    squares = grid([40 + 14.0 * n for n in range(20)], [660 + 14.0 * n for n in range(6)])

    assert extract(document(squares + lines(50, 715, *prose))) == " ".join(prose)


def test_cells_without_a_space_between_them_are_cut_at_the_rule() -> None:
    rows = b"".join(
        at(50, y, "12") + at(64.9, y, "345") + at(86.4, y, "67") for y in (715, 695, 675)
    )

    text = extract(document(rows + grid([45, 64.1, 85.6, 110], [670, 690, 710, 730])))

    assert text.split("\n")[0] == "| 12 | 345 | 67 |"


_PIPES = [["Part", "Size in millimetres"], ["Bolt", "10"], ["Heron nut", "eleven"], ["Rod", "12"]]


def _open_table() -> bytes:
    """Its columns are divided from each other; neither its sides nor its end have a rule."""
    levels = b"".join(rule(45, y, 260, y) for y in (730, 710, 690, 670))
    return cells([50, 150], [715, 695, 675, 655], _PIPES) + levels + rule(145, 730, 145, 650)


def test_a_table_with_rules_between_its_cells_only_has_all_of_them() -> None:
    text = extract(document(_open_table() + at(50, 560, "Text below.")))

    assert text.split("\n") == [
        "| Part | Size in millimetres |",
        "|---|---|",
        "| Bolt | 10 |",
        "| Heron nut | eleven |",
        "| Rod | 12 |",
        "",
        "Text below.",
    ]


def test_tables_of_an_imposed_page_are_found_in_its_forms() -> None:
    content = _open_table()
    resources = b"/Resources << /Font << /F 3 0 R >> >>"
    inner = b"<< /Type /XObject /Subtype /Form /BBox [0 0 600 800] /Matrix [1 0 0 1 20 -30] "
    outer = b"<< /Type /XObject /Subtype /Form /BBox [0 0 1200 1600] "
    do = b"q 0.9 0 0 0.9 5 7 cm /I Do Q"
    extra = [
        inner + resources + b" /Length %d >>\nstream\n%b\nendstream" % (len(content), content),
        outer
        + b"/Resources << /XObject << /I 11 0 R >> >> /Length %d >>\nstream\n%b\nendstream"
        % (len(do), do),
    ]
    page = Sheet(content=b"/O Do", entries=b"/Resources << /XObject << /O 12 0 R >> >>")

    text = extract(document(page, extra=extra))

    assert text.split("\n")[2:] == ["| Bolt | 10 |", "| Heron nut | eleven |", "| Rod | 12 |"]


def test_rows_of_the_same_columns_are_a_table_without_rules() -> None:
    table = cells(
        [50, 200, 350],
        [700, 686, 672, 658],
        [
            ["Town", "People", "Area"],
            ["Rome", "2,800", "1,285"],
            ["Oslo", "700", "454"],
            ["Bern", "134", "52"],
        ],
    )

    assert extract(table) == (
        "| Town | People | Area |\n|---|---|---|\n"
        "| Rome | 2,800 | 1,285 |\n| Oslo | 700 | 454 |\n| Bern | 134 | 52 |"
    )


def test_two_columns_are_a_table_if_the_second_holds_numbers() -> None:
    rows = [["Rent", "1,200"], ["Power", "85"], ["Water", "40"]]

    numbers = extract(cells([50, 300], [700, 686, 672], rows))
    words = extract(cells([50, 300], [700, 686, 672], [[a, "to be paid soon"] for a, _ in rows]))

    assert numbers == "| Rent | 1,200 |\n|---|---|\n| Power | 85 |\n| Water | 40 |"
    assert "|" not in words


def test_columns_of_prose_are_not_a_table() -> None:
    prose = "a column of a text in three"
    row = [prose, "which goes on and on so that", "nobody takes it for a table"]

    text = extract(cells([40, 230, 420], [700, 686, 672, 658], [row] * 4))

    assert "|" not in text


def test_prose_is_left_alone() -> None:
    text = extract(lines(50, 700, *["Some words of a text that goes on and on."] * 8))

    assert "|" not in text


_GOODS = [["Item", "What", "Price"], ["A-1", "Bolt", "24.00"], ["A-2", "Nut", "8.00"]]
_GOODS_TABLE = (
    "| Item | What | Price |\n|---|---|---|\n| A-1 | Bolt | 24.00 |\n| A-2 | Nut | 8.00 |"
)


def test_rows_that_are_not_ruled_are_found_by_their_numbers() -> None:
    ruled = grid([50, 150, 250, 350], [700, 640])

    assert extract(ruled + cells([50, 150, 250], [686, 670, 654], _GOODS)) == _GOODS_TABLE


def test_a_cell_that_wraps_stays_in_its_row() -> None:
    wrapped = at(154, 658, "of steel", size=10) + at(154, 634, "of brass", size=10)
    content = cells([50, 150, 250], [686, 670, 646], _GOODS) + wrapped

    for rules in (b"", grid([50, 150, 250, 350], [700, 620])):
        assert extract(rules + content) == _GOODS_TABLE.replace("Bolt", "Bolt of steel").replace(
            "Nut", "Nut of brass"
        )


def test_text_in_a_ruled_row_is_not_cut_into_rows() -> None:
    lines_of_two = cells(
        [50, 200], [688, 676, 664], [["Who", "signs"], ["the", "paper"], ["is", "bound"]]
    )

    found = extract(
        grid([50, 200, 350], [700, 650, 600])
        + lines_of_two
        + cells([50, 200], [630], [["Ann", "Lee"]])
    )

    assert found == "| Who the is | signs paper bound |\n|---|---|\n| Ann | Lee |"


def test_a_merged_cell_is_in_each_row_and_column_that_it_covers() -> None:
    rules = b"".join(
        [
            grid([50, 150, 350], [700, 620]),
            rule(250, 620, 250, 680),
            rule(150, 680, 350, 680),
            rule(50, 660, 350, 660),
            rule(150, 640, 350, 640),
        ]
    )
    content = cells(
        [50, 150, 250],
        [686, 666, 646, 626],
        [
            ["Harbour", "Morning", ""],
            ["", "Guards", "Cooks"],
            ["North", "45", "46"],
            ["", "3", "4"],
        ],
    )

    assert extract(rules + content) == (
        "| Harbour | Morning | Morning |\n|---|---|---|\n| Harbour | Guards | Cooks |\n"
        "| North | 45 | 46 |\n| North | 3 | 4 |"
    )


def test_a_title_in_the_first_row_stays_above_the_table() -> None:
    rules = grid([50, 150, 250, 350], [680, 660, 640, 620]) + grid([50, 350], [700, 680])
    title = at(54, 686, "Prices of May", size=10)

    text = extract(rules + title + cells([50, 150, 250], [666, 646, 626], _GOODS))

    assert text == f"Prices of May\n\n{_GOODS_TABLE}"


def pages_of(*pages: list[list[str]]) -> str:
    xs: list[float] = [50, 150, 250]
    content = [
        grid([50, 150, 250, 350], [760 - 20 * row for row in range(len(rows) + 1)])
        + cells(xs, [746 - 20 * row for row in range(len(rows))], rows)
        for rows in pages
    ]
    return extract_file(io.BytesIO(document(*content)), name="a.pdf").text


def test_a_table_that_goes_on_has_its_header_on_each_page() -> None:
    rows = [[f"V{number}", f"{number} bar", "ok"] for number in range(6)]

    text = pages_of([["Valve", "Pressure", "Remark"], *rows[:3]], rows[3:])

    assert text.count("| Valve | Pressure | Remark |\n|---|---|---|\n| V") == 2


def test_a_table_with_a_header_of_its_own_is_no_continuation() -> None:
    first = [["Valve", "Pressure", "Remark"], ["V1", "2", "ok"], ["V2", "4", "ok"]]
    other = [["Pump", "Flow", "Remark"], ["P1", "70", "ok"], ["P2", "80", "ok"]]

    assert pages_of(first, other).count("Valve") == 1
    assert pages_of(first, first).count("Valve") == 2


def test_a_form_is_lines_of_labels_with_their_values() -> None:
    form = cells(
        [50, 150, 320, 420],
        [700, 682, 664],
        [
            ["First name", "Mara", "Last name", "Lindqvist"],
            ["Street", "Quay Street", "Born", "4 May 1981"],
            ["Telephone", "0161 4960000", "Job", "Welder"],
        ],
    )

    assert extract(form) == (
        "First name: Mara\nLast name: Lindqvist\nStreet: Quay Street\nBorn: 4 May 1981\n"
        "Telephone: 0161 4960000\nJob: Welder"
    )


def test_a_table_of_contents_is_lines() -> None:
    entries = [[f"{number} Chapter of words", str(7 * number)] for number in range(1, 6)]

    assert "|" not in extract(cells([50, 400], [700, 684, 668, 652, 636], entries))
