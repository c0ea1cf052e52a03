"""What the cells of workbooks show beside their plain text: raised figures, all digits."""

import io

import pytest

from ingest.formats.registry import extract as extract_file
from tests.builders.make_sheets import ods, ods_row, xlsx

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def text(data: bytes, name: str = "a.xlsx") -> str:
    return extract_file(io.BytesIO(data), name=name).text.removeprefix("## S").strip()


def run(shown: str, align: str = "") -> str:
    properties = f'<rPr><vertAlign val="{align}"/></rPr>' if align else ""
    return f'<r>{properties}<t xml:space="preserve">{shown}</t></r>'


def inline(place: str, content: str) -> str:
    return f'<c r="{place}" t="inlineStr"><is>{content}</is></c>'


POWER = run("10") + run("6", "superscript") + run(" Pa")
GAS = run("CO") + run("2", "subscript")


@pytest.mark.usefixtures("any_reader")
def test_raised_figures_of_inline_texts_stay_apart() -> None:
    rows = (
        f'<row r="1">{inline("A1", "<t>Limit</t>")}{inline("B1", "<t>Gas</t>")}</row>'
        f'<row r="2">{inline("A2", POWER)}{inline("B2", GAS)}</row>'
    )

    assert "10^6 Pa" in text(xlsx({"S": rows}))
    assert "CO₂" in text(xlsx({"S": rows}))


def shared(*strings: str) -> bytes:
    """A workbook with these strings in column A of `S`, below `Limit`, beside 1."""
    items = "".join(f"<si>{content}</si>" for content in ("<t>Limit</t>", "<t>N</t>", *strings))
    rows = '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>' + "".join(
        f'<row r="{at}"><c r="A{at}" t="s"><v>{at}</v></c><c r="B{at}"><v>1</v></c></row>'
        for at in range(2, len(strings) + 2)
    )
    related = (
        f'<Relationships xmlns="{RELATIONS}">'
        f'<Relationship Id="rId1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
        f'<Relationship Id="t" Type="{OFFICE}/sharedStrings" Target="sharedStrings.xml"/>'
        "</Relationships>"
    )
    extra = {
        "xl/sharedStrings.xml": f'<sst xmlns="{MAIN}">{items}</sst>'.encode(),
        "xl/_rels/workbook.xml.rels": related.encode(),
    }
    return xlsx({"S": rows}, extra=extra)


@pytest.mark.usefixtures("any_reader")
def test_raised_figures_of_shared_texts_stay_apart() -> None:
    assert text(shared(POWER, "<t>12 Pa</t>", GAS)) == (
        "- Limit: 10^6 Pa; N: 1\n- Limit: 12 Pa; N: 1\n- Limit: CO₂; N: 1"
    )


def test_raised_marks_in_brackets_stay_as_their_legend_has_them() -> None:
    assert "- Limit: Sales (a); N: 1" in text(shared(run("Sales ") + run("(a)", "superscript")))


def test_a_text_that_also_stands_without_raised_figures_is_kept() -> None:
    assert text(shared(run("10") + run("6", "superscript"), "<t>106</t>")) == (
        "- Limit: 10^6; N: 1\n- Limit: 106; N: 1"
    )


@pytest.mark.usefixtures("any_reader")
def test_results_of_formulas_have_no_raised_figures() -> None:
    result = '<c r="A4" t="str"><f>1</f><v>106 Pa</v></c>'
    rows = (
        f'<row r="2">{inline("A2", "<t>Limit</t>")}{inline("B2", "<t>N</t>")}</row>'
        f'<row r="3">{inline("A3", POWER)}<c r="B3"><v>1</v></c></row>'
        f'<row r="4">{result}<c r="B4"><v>2</v></c></row>'
    )

    assert text(xlsx({"S": rows})) == "- Limit: 10^6 Pa; N: 1\n- Limit: 106 Pa; N: 2"


def test_raised_figures_stay_in_sheets_of_many_cells() -> None:
    strings = 30_000 * ["<t>x</t>"] + [POWER]

    assert text(shared(*strings)).endswith("- Limit: x; N: 1\n- Limit: 10^6 Pa; N: 1")


@pytest.mark.parametrize(("number_format", "shown"), [("General", ""), ("0", ""), ("#,##0", ",")])
def test_numbers_of_sixteen_digits_keep_them(number_format: str, shown: str) -> None:
    rows = "".join(
        f'<row r="{at}">{inline(f"A{at}", f"<t>{name}</t>")}{value}</row>'
        for at, (name, value) in enumerate(
            [
                ("Name", inline("B1", "<t>Id</t>")),
                ("a", '<c r="B2" s="1"><v>1234567890123456</v></c>'),
            ],
            start=1,
        )
    )

    assert text(xlsx({"S": rows}, formats=[number_format])) == (
        f"- Name: a; Id: {shown.join(['1', '234', '567', '890', '123', '456'])}"
    )


def ods_cell(kind: str, content: str, value: str = "") -> str:
    return (
        f'\n  <table:table-cell office:value-type="{kind}"{value}>\n   '
        f"<text:p>{content}</text:p>\n  </table:table-cell>"
    )


def indented(*rows: str) -> str:
    return "".join(f"\n <table:table-row>{row}\n </table:table-row>" for row in rows) + "\n"


@pytest.mark.parametrize("flat", [False, True])
def test_indented_open_document_sheets_are_read(flat: bool) -> None:
    rows = indented(
        ods_cell("string", "Name") + ods_cell("string", "Share"),
        ods_cell("string", "a <text:span>b</text:span> <text:span>c</text:span>")
        + ods_cell("float", "<text:s/>1/4", ' office:value="0.25"'),
        ods_cell("string", "d") + ods_cell("float", '<text:s text:c="2"/>3 €', ' office:value="3"'),
    )

    assert text(ods(rows, flat=flat), "a.fods" if flat else "a.ods") == (
        "- Name: a b c; Share: 1/4\n- Name: d; Share: 3 €"
    )


@pytest.mark.parametrize(
    ("attributes", "shown"),
    [
        ("office:value-type='float' office:value='1.5'", "1,50 €"),
        ('x:note="a > b" office:value-type="float" office:value="1.5"', "1,50 €"),
        ('office:value-type="float" office:value="1.5" x:note="a > b"', "1,50 €"),
    ],
)
def test_cells_of_open_document_may_state_their_values_in_any_way(
    attributes: str, shown: str
) -> None:
    rows = indented(
        ods_cell("string", "Name") + ods_cell("string", "Price"),
        ods_cell("string", "a")
        + f'<table:table-cell xmlns:x="x" {attributes}><text:p>{shown}</text:p></table:table-cell>',
    )

    assert text(ods(rows), "a.ods") == f"- Name: a; Price: {shown}"


def test_a_cell_with_a_long_tag_is_read_in_linear_time() -> None:
    note = ' office:value-type="float"' * 100_000  # quadratic: minutes
    cell = f"<table:table-cell xmlns:x='x' x:note='{note} '><text:p></text:p></table:table-cell>"
    rows = indented(ods_cell("string", "Name"), cell, ods_cell("string", "a"))

    assert text(ods(rows), "a.ods").split() == ["Name", "a"]


def test_raised_figures_of_open_document_sheets_stay_apart() -> None:
    styles = (
        '<office:automatic-styles xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0">'
        '<style:style style:name="T1" style:family="text">'
        '<style:text-properties style:text-position="super 58%"/></style:style>'
        '<style:style style:name="T2" style:family="text">'
        '<style:text-properties style:text-position="-33% 58%"/></style:style>'
        "</office:automatic-styles>"
    )
    rows = indented(
        ods_cell("string", "Limit") + ods_cell("string", "N"),
        ods_cell("string", '10<text:span text:style-name="T1">6</text:span> Pa')
        + ods_cell("float", "1", ' office:value="1"'),
        ods_cell("string", 'H<text:span text:style-name="T2">2</text:span>O')
        + ods_cell("float", "2", ' office:value="2"'),
    )
    data = ods(rows, flat=True).replace(b"<office:body>", f"{styles}<office:body>".encode())

    assert text(data, "a.fods") == "- Limit: 10^6 Pa; N: 1\n- Limit: H₂O; N: 2"


@pytest.mark.parametrize(("value", "word"), [("true", "WAHR"), ("false", "FAUX")])
def test_truth_values_of_open_document_are_the_words_of_the_sheet(value: str, word: str) -> None:
    stated = f'office:value-type="boolean" office:boolean-value="{value}"'
    row = ods_row(word).replace('office:value-type="string"', stated)

    assert text(ods(row), "a.ods").endswith(word)


def noted(text: str, *, author: str = "") -> str:
    creator = f"<dc:creator xmlns:dc='x'>{author}</dc:creator>" if author else ""
    return (
        f"<office:annotation>{creator}<dc:date xmlns:dc='x'>2024-01-01</dc:date>"
        f"<text:p>{text}</text:p></office:annotation>"
    )


@pytest.mark.parametrize("flat", [False, True])
def test_comments_of_open_document_stand_below_the_rows(flat: bool) -> None:
    rows = (
        ods_row(times=2)
        + ods_row("Name", "Rate")
        + ods_row("Ann", "x").replace(
            'office:value-type="string" table:number-columns-repeated="1"><text:p>x',
            'office:value-type="float" office:value="3">'
            + noted("See <text:a>rule</text:a> 5", author="Bob")
            + "<text:p>3,00 €",
        )
        + ods_row("*28", "z").replace("<text:p>z", noted("Far") + "<text:p>z")
        + ods_row("y").replace("<text:p>y", "<office:annotation/><text:p>y")
    )

    read = text(ods(rows, flat=flat), "a.fods" if flat else "a.ods")

    assert "Rate: 3,00 €" in read
    assert "y" in read
    assert read.endswith("Comment by Bob on B4: See rule 5\n\nComment on AC5: Far")


def test_words_deep_inside_of_a_comment_are_kept() -> None:
    deep = "<text:p>a" * 20_000 + "</text:p>" * 20_000 + " b"
    row = ods_row("Ann").replace("<text:p>", f"{noted(deep, author='<i>Bob</i>')}<text:p>")

    read = text(ods(row), "a.ods").split()

    assert read[:6] == ["Ann", "Comment", "by", "Bob", "on", "A1:"]
    assert read[6:] == [*["a"] * 20_000, "b"]


@pytest.mark.parametrize("before", [0, 3])
def test_links_of_open_document_sheets_are_kept(before: int) -> None:
    link = '<text:a xlink:href="https://example.org/a" xmlns:xlink="x">Rules</text:a>'
    rows = (
        (ods_row("x", times=before) if before else "")
        + ods_row("Name", "Where")
        + ods_row("Ann", "Paris")
        + ods_row("Bob", "@").replace("@", link)
    )

    assert "[Rules](https://example.org/a)" in text(ods(rows), "a.ods")


def test_a_chart_in_a_flat_sheet_is_no_sheet() -> None:
    inner = (
        '<office:document><table:table table:name="local-table"><table:table-row>'
        "<table:table-cell><text:p>Inner</text:p></table:table-cell></table:table-row></table:table>"
        "</office:document>"
    )
    space = "urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"
    empty = f'<draw:object xmlns:draw="{space}"/>'
    chart = f"{empty.removesuffix('/>')}>{inner}</draw:object>{empty}"
    data = ods(
        ods_row("Name", "Age") + ods_row("Ann", "4").replace("<text:p>4", f"{chart}<text:p>4"),
        flat=True,
    )
    second = (
        '<table:table table:name="T">' + ods_row("Town") + "</table:table></office:spreadsheet>"
    )
    data = data.replace(b"</office:spreadsheet>", second.encode())

    read = extract_file(io.BytesIO(data), name="a.fods").text

    assert read == "## S\n\n- Name: Ann; Age: 4\n\n## T\n\nTown"
