"""Tables, forms and odd bytes of RTF, which its reader does not know."""

import io
import tracemalloc

import pytest

from ingest.formats.office.rtf.tables import mark_merged
from ingest.formats.registry import extract


def text(body: str) -> str:
    data = b"{\\rtf1\\ansi\\ansicpg1252 " + body.encode("ascii") + b"}"
    return extract(io.BytesIO(data), name="a.rtf").text


def row(definition: str, *cells: str) -> str:
    return (
        rf"\trowd{definition}\pard\intbl " + "".join(rf"{cell}\cell " for cell in cells) + r"\row"
    )


_THREE = r"\cellx1000\cellx2000\cellx3000"
_WIDE = r"\cellx1000\cellx3000"


@pytest.mark.parametrize(
    "definition", [_WIDE, r"\cellx990\cellx3030", r"\clbrdrt\cellx1000\clbrdrt\cellx3000"]
)
def test_a_wide_cell_of_rtf_counts_in_all_its_columns(definition: str) -> None:
    table = row(_THREE, "Item", "Q1", "Q2") + row(definition, "Pens", "7") + r"\pard end\par"

    assert text(table) == "| Item | Q1 | Q2 |\n|---|---|---|\n| Pens | 7 | 7 |\n\nend"


def test_values_right_of_a_wide_cell_stay_in_their_column() -> None:
    table = row(_THREE, "A", "B", "C") + row(r"\cellx2000\cellx3000", "x", "9") + r"\pard"

    assert text(table).endswith("| x | x | 9 |")


def test_cells_merged_by_word_of_the_format_take_the_text_of_the_first() -> None:
    first = row(r"\clvmgf\cellx1000\clmgf\cellx2000\clmrg\cellx3000", "Region", "2024", "")
    second = row(r"\clvmrg\cellx1000\cellx2000\cellx3000", "", "Q1", "Q2")
    table = first + second + row(_THREE, "North", "1", "2") + r"\pard"

    assert text(table) == "| Region | 2024 Q1 | 2024 Q2 |\n|---|---|---|\n| North | 1 | 2 |"


def test_a_definition_behind_the_cells_and_one_that_is_not_repeated_count() -> None:
    cells = r"\pard\intbl {x\cell 9\cell }{\trowd\cellx2000\cellx3000 \row }"
    again = r"\pard\intbl y\cell 8\cell\row"

    assert text(row(_THREE, "A", "B", "C") + cells + again + r"\pard").endswith(
        "| x | x | 9 |\n| y | y | 8 |"
    )


@pytest.mark.parametrize(
    "definition", [r"\cellx1500\cellx3000", r"\cellx2000\cellx1000", r"\cellx"]
)
def test_rows_of_rtf_that_fit_no_grid_stay_as_they_are(definition: str) -> None:
    table = row(_THREE, "A", "B", "C") + row(definition, "x", "9") + r"\pard"

    assert "| x | 9 |" in text(table)


def test_another_table_of_rtf_has_columns_of_its_own() -> None:
    tables = (
        row(_THREE, "A", "B", "C") + r"\pard between\par" + row(r"\cellx2000\cellx3000", "x", "9")
    )

    assert "| x | 9 |" in text(tables + r"\pard")


def test_rows_of_rtf_that_take_over_very_many_edges_stay_as_they_are() -> None:
    edges = "".join(rf"\cellx{edge}" for edge in range(1, 30_001))
    wide = rf"{{\rtf1 \trowd{edges}\pard\intbl x\cell".encode() + rb"\row" * 30_000 + b"}"

    assert mark_merged(wide) == wide


def test_more_marks_of_rtf_rows_than_are_written_are_not_made_either() -> None:
    edges = "".join(rf"\cellx{edge}00" for edge in range(1, 65))
    grid = rf"{{\rtf1 \trowd{edges}\pard\intbl" + r"\cell" * 64 + r"\row"
    data = grid.encode() + rb"\trowd\cellx6400\cell\row" * 10_000 + b"}"

    tracemalloc.start()
    try:
        marked = mark_merged(data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert marked == data
    assert peak < 14_000_000  # of 13 MB of marks, 4 MB; the rest are the rows


@pytest.mark.parametrize(
    ("body", "read"),
    [
        (r"H{\sub 2}O", "H₂O"),
        (r"{\b bold}er", "**bold**er"),
        (r"{\b a }b {c} d", "**a** b c d"),
        (r"caf{\i f}\'e9 {\ul x}\u269?", "caf*f*é xč"),
        (r"\{a\}b", "{a}b"),
    ],
)
def test_a_word_in_several_groups_of_rtf_stays_one(body: str, read: str) -> None:
    assert text(rf"\pard {body}\par") == read


@pytest.mark.parametrize(
    "damage", [r"{\listtext 1.", r"{\listtext " + "1" * 3000 + "}", r"\row\row\cell", r"\trowd\row"]
)
def test_damaged_tables_and_numbers_of_rtf_cost_no_other_text(damage: str) -> None:
    assert text(r"\pard Kept.\par\pard " + damage).startswith("Kept.")


def form(kind: str, states: str) -> str:
    fields = (
        rf"{{\*\formfield{{\fftype1{states}\fftypetxt0{{\*\ffname Check1}}}}}}" if states else ""
    )
    return (
        rf"{{\field\fldpriv{{\*\fldinst {{\b FORM{kind} }}{{\*\datafield 6500}}{fields}}}"
        r"{\fldrslt {}}}"
    )


@pytest.mark.parametrize(
    ("field", "read"),
    [
        (form("CHECKBOX", r"\ffres1\ffdefres0"), "[x]"),
        (form("CHECKBOX", r"\ffres0\ffdefres1"), "[ ]"),
        (form("CHECKBOX", r"\ffres25\ffdefres1"), "[x]"),
        (form("DROPDOWN", r"\ffres1\ffdefres0{\*\ffl One}{\*\ffl Caf\'e9}"), "Café"),
        (form("DROPDOWN", r"\ffres7{\*\ffl One}"), ""),
        (form("CHECKBOX", ""), ""),
    ],
)
def test_boxes_and_lists_of_rtf_forms_show_what_was_chosen(field: str, read: str) -> None:
    assert text(
        rf"\pard Agree {field} now, {field}end\par"
    ) == f"Agree {read} now, {read}end".replace("  ", " ")


@pytest.mark.parametrize(("end", "read"), [("}", "Д" * 40), (r"{\b x}}", "")])
def test_entries_of_rtf_forms_with_many_escapes_are_read_once(end: str, read: str) -> None:
    field = form("DROPDOWN", r"\ffres0{\*\ffl " + r"\u1044 ?" * 40 + end)

    assert text(rf"\pard A {field} b\par") == f"A {read} b".replace("  ", " ")


@pytest.mark.parametrize(
    ("field", "read"),
    [
        (form("CHECKBOX", r"\ffres1"), "[x] "),
        (form("CHECKBOX FORMCHECKBOX", r"\ffres1"), "[x] "),
        (r"{\field{\*\fldinst PAGE}{\fldrslt 7}}", "7 "),
    ],
)
def test_words_of_text_that_name_a_field_of_rtf_forms_are_no_field(field: str, read: str) -> None:
    unticked = form("CHECKBOX", r"\ffres0")

    assert (
        text(rf"\pard Agree {field} FORMCHECKBOX no {unticked}yes\par")
        == f"Agree {read}FORMCHECKBOX no [ ]yes"
    )


@pytest.mark.parametrize(
    ("body", "read"),
    [
        (r"\uc2\u12293\'81" + "\n" + r"\'58\uc1 x", "々x"),
        (r"\uc2\u12293" + "\r\n" + r"\'81\'58\uc1 x", "々x"),
        (r"\u-10240\'3f\u-8381" + "\r\n" + r"\'3f x", "𐍃 x"),
        (r"\u-10240" + "\n" + r"\'3f\u-8381\'3f x", "𐍃 x"),
    ],
)
def test_line_breaks_within_a_character_of_rtf_mean_nothing(body: str, read: str) -> None:
    assert text(body) == read


def test_a_star_amid_formats_hides_no_text() -> None:
    assert text(r"{\i0\b0\*\cs7\cf0 shown}{\*\unknown hidden}\par C:\\* d") == "shown\n\nC:\\* d"


def test_binary_data_of_a_link_is_no_part_of_its_address() -> None:
    link = (
        r'{\field{\*\fldinst { HYPERLINK "https://a.example/" }{{\*\datafield '
        + "00d0c9ea\n" * 20
        + r"}}}{\fldrslt {link}}}"
    )

    assert text(link) == "[link](https://a.example/)"


@pytest.mark.parametrize(
    ("tail", "kept"),
    [
        (b"\x8e8$DM\xc5 noise", False),
        (b"\n\0\0", False),
        (b" more", True),
        (rb"\par more", True),
        (rb"{\b more}", True),
    ],
)
def test_binary_data_behind_the_end_of_rtf_is_no_text(tail: bytes, kept: bool) -> None:
    data = rb"{\rtf1\ansi\ansicpg1252 {\b Body}{\*\x\bin2 }}}\par}" + tail

    read = extract(io.BytesIO(data), name="a.rtf").text.replace("*", "").split()

    assert read == (["Body", "more"] if kept else ["Body"])


def test_rtf_that_was_cut_off_keeps_its_last_words() -> None:
    data = rb"{\rtf1\ansi\ansicpg1252 {\b Body} and what was cut"

    assert extract(io.BytesIO(data), name="a.rtf").text == "**Body** and what was cut"


def test_pairs_that_libreoffice_writes_are_one_character() -> None:
    assert text(r"a {\uc0\u55357\uc1 \u56832\'3f} b") == "a 😀 b"
