"""Word documents: headings, lists, tables, links, pictures."""

import io

import pytest

from ingest.formats.office.numbering import CountedList, ListLevel
from ingest.formats.registry import extract as extract_file
from ingest.model import Document
from tests.builders import make_files
from tests.builders.make_office import paragraph, word


def extract(data: bytes) -> Document:
    return extract_file(io.BytesIO(data), name="a.docx")


def run(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def text_box(text: str) -> str:
    return f"<w:txbxContent>{run(text)}</w:txbxContent>"


def style(name: str, *, key: str, based_on: str = "", properties: str = "", run: str = "") -> str:
    return (
        f'<w:style w:styleId="{key}"><w:name w:val="{name}"/><w:basedOn w:val="{based_on}"/>'
        f"<w:pPr>{properties}</w:pPr><w:rPr>{run}</w:rPr></w:style>"
    )


def numbering(*levels: tuple[str, str]) -> str:
    """One list with the id 1; its levels by format and pattern."""
    rows = "".join(
        f'<w:lvl w:ilvl="{index}"><w:numFmt w:val="{form}"/><w:lvlText w:val="{pattern}"/></w:lvl>'
        for index, (form, pattern) in enumerate(levels)
    )
    return (
        f'<w:numbering><w:abstractNum w:abstractNumId="7">{rows}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num></w:numbering>'
    )


def listed(level: int) -> str:
    return f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="1"/></w:numPr>'


def test_headings_and_paragraphs_become_markdown() -> None:
    document = extract(make_files.docx(["One.", "Two."], heading="Head", title="Its title"))

    assert document.text.strip() == "# Head\n\nOne.\n\nTwo."
    assert document.title == "Its title"


def test_a_page_break_joins_no_words() -> None:
    page = '<w:r><w:br w:type="page"/></w:r>'
    body = (
        f"<w:p><w:r><w:t>On this page</w:t></w:r>{page}<w:r><w:t>and on the next.</w:t></w:r></w:p>"
        f"<w:p>{page}</w:p><w:p>{page}<w:r><w:t>After it.</w:t></w:r></w:p>"
    )

    assert (
        extract(make_files.docx([], body=body)).text == "On this page and on the next.\n\nAfter it."
    )


def test_tables_become_markdown_tables() -> None:
    row = "<w:tr>{}</w:tr>"
    cell = "<w:tc>{}</w:tc>"
    rows = [row.format("".join(cell.format(run(text)) for text in texts)) for texts in ("AB", "CD")]

    document = extract(make_files.docx(body=f"<w:tbl>{''.join(rows)}</w:tbl>"))

    assert "| A | B |" in document.text
    assert "| C | D |" in document.text


def test_pictures_leave_their_alternative_text_and_no_data() -> None:
    drawing = "http://schemas.openxmlformats.org/drawingml/2006"
    picture = (
        f'<w:p><w:r><w:drawing xmlns:a="{drawing}/main" xmlns:pic="{drawing}/picture"'
        f' xmlns:wp="{drawing}/wordprocessingDrawing"><wp:inline><wp:docPr id="1" name="n"'
        ' descr="A duck on a pond"/><a:graphic><a:graphicData><pic:pic><pic:blipFill>'
        '<a:blip r:embed="rId9"/></pic:blipFill></pic:pic></a:graphicData></a:graphic>'
        "</wp:inline></w:drawing></w:r></w:p>"
    )
    data = make_files.docx(
        body=picture,
        extra={
            "word/_rels/document.xml.rels": make_files.docx_relation("image", "media/duck.png"),
            "word/media/duck.png": make_files.png(),
        },
    )

    text = extract(data).text

    assert "A duck on a pond" in text
    assert "data:" not in text


def test_styles_that_inherit_from_a_heading_are_headings() -> None:
    styles = style("heading 2", key="H2") + style("Chapter", key="C", based_on="H2")

    document = extract(
        word(
            paragraph("A", properties='<w:pStyle w:val="C"/>')
            + paragraph("B", properties='<w:outlineLvl w:val="2"/>'),
            {"styles": ("styles", f"<w:styles>{styles}</w:styles>")},
        )
    )

    assert document.text == "## A\n\n### B"


def test_headings_have_the_numbers_that_word_makes() -> None:
    levels = numbering(("decimal", "%1"), ("upperRoman", "%1.%2"))
    body = "".join(
        paragraph(name, properties=f'<w:outlineLvl w:val="{level}"/>{listed(level)}')
        for name, level in (("One", 0), ("Sub", 1), ("Sub", 1), ("Two", 0), ("Sub", 1))
    )

    document = extract(word(body, {"n": ("numbering", levels)}))

    headings = [line for line in document.text.split("\n") if line]
    assert headings == ["# 1 One", "## 1.I Sub", "## 1.II Sub", "# 2 Two", "## 2.I Sub"]


def test_lists_keep_their_depth_and_their_labels() -> None:
    levels = numbering(("decimal", "%1."), ("lowerLetter", "(%2)"), ("bullet", "x"))
    body = "".join(
        paragraph(name, properties=listed(level))
        for name, level in (("one", 0), ("a", 1), ("dot", 2), ("b", 1), ("two", 0))
    )

    document = extract(word(body, {"n": ("numbering", levels)}))

    assert document.text == "1. one\n   - (a) a\n      - dot\n   - (b) b\n2. two"


def test_nested_table_is_kept_in_its_cell_and_merged_cells_in_their_columns() -> None:
    inner = f"<w:tbl><w:tr><w:tc>{run('in')}</w:tc><w:tc>{run('ner')}</w:tc></w:tr></w:tbl>"
    wide = f'<w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr>{run("wide")}</w:tc>'
    below = f"<w:tc><w:tcPr><w:vMerge/></w:tcPr>{run('')}</w:tc>"
    body = (
        f"<w:tbl><w:tr>{wide}<w:tc>{run('c')}</w:tc></w:tr>"
        f"<w:tr>{below}<w:tc>{inner}</w:tc><w:tc>{run('x')}{run('y')}</w:tc></w:tr></w:tbl>"
    )

    document = extract(word(body))

    assert document.text == "| wide | wide | c |\n|---|---|---|\n| wide | in ner | x y |"


def test_merged_cells_are_repeated_and_headers_of_several_rows_joined() -> None:
    def row(*cells: tuple[str, str]) -> str:
        inner = (f"<w:tc><w:tcPr>{kind}</w:tcPr>{run(text)}</w:tc>" for text, kind in cells)
        return f"<w:tr>{''.join(inner)}</w:tr>"

    first, below, wide, whole = (
        '<w:vMerge w:val="restart"/>',
        "<w:vMerge/>",
        '<w:gridSpan w:val="2"/>',
        '<w:gridSpan w:val="3"/>',
    )
    rows = (
        row(("Plans of 2026", whole))
        + row(("Region", first), ("Sales", wide))
        + row(("", below), ("Plan", ""), ("Actual", ""))
        + row(("North", first), ("1", ""), ("2", ""))
        + row(("", below), ("3", ""), ("4", ""))
    )

    document = extract(word(f"<w:tbl>{rows}</w:tbl>"))

    assert document.text.split("\n") == [
        "Plans of 2026",
        "",
        "| Region | Sales Plan | Sales Actual |",
        "|---|---|---|",
        "| North | 1 | 2 |",
        "| North | 3 | 4 |",
    ]


def test_check_boxes_and_lists_of_forms_show_what_was_chosen() -> None:
    def form(data: str) -> str:
        return (
            f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData>{data}</w:ffData></w:fldChar></w:r>'
            '<w:r><w:instrText>FORM</w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
        )

    default, checked = '<w:default w:val="1"/>', '<w:checked w:val="0"/>'
    entries = '<w:listEntry w:val="Small"/><w:listEntry w:val="Large"/>'
    body = "".join(
        f"<w:p>{form(data)}<w:r><w:t> end</w:t></w:r></w:p>"
        for data in (
            "<w:checkBox><w:checked/></w:checkBox>",
            f"<w:checkBox>{default}</w:checkBox>",
            f"<w:checkBox>{default}{checked}</w:checkBox>",
            f'<w:ddList><w:result w:val="1"/>{entries}</w:ddList>',
        )
    )

    assert extract(word(body)).text.split("\n\n") == ["[x] end", "[x] end", "[ ] end", "Large end"]


def test_a_table_of_one_cell_is_only_a_frame() -> None:
    document = extract(word(f"<w:tbl><w:tr><w:tc>{run('a')}{run('b')}</w:tc></w:tr></w:tbl>"))

    assert document.text == "a\n\nb"


def test_text_box_alternatives_are_read_once() -> None:
    new = f"<w:drawing><wps:txbx>{text_box('boxed')}</wps:txbx></w:drawing>"
    old = f"<w:pict><v:textbox>{text_box('boxed')}</v:textbox></w:pict>"
    both = (
        '<mc:AlternateContent><mc:Choice Requires="wps">' + new + "</mc:Choice>"
        f"<mc:Fallback>{old}</mc:Fallback></mc:AlternateContent>"
    )

    document = extract(word(f"<w:p><w:r><w:t>around</w:t>{both}</w:r></w:p>"))

    assert document.text == "around\n\nboxed"


def test_equations_are_written_in_a_line() -> None:
    def symbols(text: str) -> str:
        return f"<m:r><m:t>{text}</m:t></m:r>"

    fraction = (
        f"<m:f><m:num>{symbols('a+b')}</m:num><m:den><m:sSup><m:e>{symbols('c')}</m:e>"
        f"<m:sup>{symbols('2')}</m:sup></m:sSup></m:den></m:f>"
    )

    document = extract(word(f"<w:p><m:oMath>{symbols('x=')}{fraction}</m:oMath></w:p>"))

    assert document.text == "x=(a+b)/(c^2)"


def test_links_keep_their_address_and_dead_ones_their_text() -> None:
    body = (
        '<w:p><w:hyperlink r:id="l"><w:r><w:t>site</w:t></w:r></w:hyperlink>'
        '<w:hyperlink r:id="gone"><w:r><w:t> dead</w:t></w:r></w:hyperlink></w:p>'
    )

    document = extract(word(body, {"l": ("hyperlink", "https://example.com/")}))

    assert document.text == "[site](https://example.com/) dead"


def test_a_link_that_is_a_field_keeps_its_address() -> None:
    def field(kind: str) -> str:
        return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'

    instruction = '<w:r><w:instrText>HYPERLINK "https://example.com/"</w:instrText></w:r>'
    body = (
        f"<w:p>{field('begin')}{instruction}{field('separate')}"
        f"<w:r><w:t>site</w:t></w:r>{field('end')}<w:r><w:t> after</w:t></w:r></w:p>"
    )

    assert extract(word(body)).text == "[site](https://example.com/) after"


def test_a_list_that_begins_again_counts_from_its_start() -> None:
    lists = (
        '<w:numbering><w:abstractNum w:abstractNumId="7"><w:lvl w:ilvl="0">'
        '<w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl></w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>'
        '<w:num w:numId="2"><w:abstractNumId w:val="7"/><w:lvlOverride w:ilvl="0">'
        '<w:startOverride w:val="1"/></w:lvlOverride></w:num></w:numbering>'
    )
    items = [("a", 1), ("b", 1), ("c", 2), ("d", 2), ("e", 1)]
    body = "".join(
        paragraph(
            text, properties=f'<w:numPr><w:ilvl w:val="0"/><w:numId w:val="{key}"/></w:numPr>'
        )
        for text, key in items
    )

    assert extract(word(body, {"n1": ("numbering", lists)})).text == "1. a\n2. b\n1. c\n2. d\n3. e"


@pytest.mark.parametrize(
    ("count", "shown"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (112, "112th"), (121, "121st")],
)
def test_ordinal_numbers_have_their_endings(count: int, shown: str) -> None:
    levels = {0: ListLevel("ordinal", "%1", count)}

    assert CountedList(levels).label(0) == shown
