"""What stands on a sheet beside its cells: comments, text boxes, charts."""

import io
from collections.abc import Sequence

import pytest

from ingest.formats.registry import extract as extract_file
from ingest.model import Document
from tests.builders.make_graph_97 import graph
from tests.builders.make_sheets import Cell, xlsx

PEOPLE: list[list[Cell]] = [["Name", "Age"], ["Ann", 34], ["Bob", 7]]


def extract(data: bytes, name: str = "a.xlsx") -> Document:
    return extract_file(io.BytesIO(data), name=name)


_TYPES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_DRAWN = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'


def beside(**parts: str) -> dict[str, bytes]:
    """Parts that the first sheet of a workbook refers to, by their kinds."""
    related = "".join(
        f'<Relationship Id="{kind}" Type="{_TYPES}/{kind}" Target="/xl/{kind}.xml"/>'
        for kind in parts
    )
    namespace = "http://schemas.openxmlformats.org/package/2006/relationships"
    links = f'<Relationships xmlns="{namespace}">{related}</Relationships>'
    return {
        "xl/worksheets/_rels/sheet1.xml.rels": links.encode(),
        **{f"xl/{kind}.xml": text.encode() for kind, text in parts.items()},
    }


def test_comments_and_text_boxes_stand_below_the_rows_of_their_sheet() -> None:
    box = "<txBody><a:p><a:r><a:t>Text box</a:t></a:r></a:p></txBody>"
    pictures = '<pic><cNvPr descr="A red pump"/></pic><pic><cNvPr descr="pump.png"/></pic>'
    comments = (
        "<comments><authors><author>Ann</author></authors><commentList>"
        '<comment ref="B3" authorId="0"><text><r><t>Ann:</t></r><r><t> Check this</t></r></text>'
        '</comment><comment ref="A1" authorId="0"><text><t>copy</t></text></comment>'
        "</commentList></comments>"
    )
    thread = '<a><threadedComment ref="A1"><text>Why?</text></threadedComment></a>'
    parts = beside(
        drawing=f"<wsDr {_DRAWN}><sp>{box}</sp>{pictures}</wsDr>",
        comments=comments,
        threadedComment=thread,
    )

    document = extract(xlsx({"S": PEOPLE, "T": [["Town"]]}, extra=parts))

    assert document.text.split("\n\n")[2:] == [
        "Text box",
        "A red pump",
        "Comment on A1: Why?",
        "Comment by Ann on B3: Check this",
        "## T",
        "Town",
    ]


def test_a_sheet_of_text_boxes_alone_has_text() -> None:
    box = "<txBody><a:p><a:r><a:t>Text box</a:t></a:r></a:p></txBody>"
    parts = beside(drawing=f"<wsDr {_DRAWN}><sp>{box}</sp></wsDr>")

    assert extract(xlsx({"S": []}, extra=parts)).text == "## S\n\nText box"


_PART = (
    '<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"><c:chart>'
    "<c:title><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:title><c:plotArea><c:barChart><c:ser>"
    "<c:tx><c:v>North</c:v></c:tx><c:cat><c:strLit><c:pt idx='0'><c:v>2019</c:v></c:pt></c:strLit>"
    "</c:cat><c:val><c:numLit><c:pt idx='0'><c:v>7</c:v></c:pt></c:numLit></c:val></c:ser>"
    "</c:barChart><c:catAx><c:title><a:p><a:r><a:t>Year</a:t></a:r></a:p></c:title></c:catAx>"
    "</c:plotArea></c:chart></c:chartSpace>"
).replace("<c:chartSpace", f"<c:chartSpace {_DRAWN}")


def charted(rows: list[list[Cell]], *, charts: Sequence[str] = (), times: int = 1) -> str:
    """The text of a workbook whose first sheet has rows and a chart, or is a chart."""
    frame = f'<chart xmlns:r="{_TYPES}" r:id="chart"/>' * times
    parts = beside(drawing=f"<wsDr {_DRAWN}>{frame}</wsDr>")
    links = parts["xl/worksheets/_rels/sheet1.xml.rels"].replace(b"drawing", b"chart")
    extra = parts | {"xl/_rels/drawing.xml.rels": links, "xl/chart.xml": _PART.encode()}
    return extract(xlsx({"S": rows}, charts=charts, extra=extra)).text


@pytest.mark.parametrize("charts", [[], ["S"]])
def test_a_sheet_of_charts_alone_has_their_values(charts: list[str]) -> None:
    assert charted([], charts=charts) == (
        "## S\n\nSales\n\n| Year | North |\n|---|---|\n| 2019 | 7 |"
    )


def test_a_chart_beside_cells_has_its_title() -> None:
    assert charted([["Year"], ["2019"]]).endswith("2019\n\nChart: Sales")


def test_a_chart_that_stands_on_a_sheet_twice_is_written_once() -> None:
    once = charted([])

    assert charted([], times=3) == once
    assert "| 2019 | 7 |" in once


def test_comments_of_binary_workbooks_are_named_as_not_read() -> None:
    document = extract(xlsx({"S": PEOPLE}, extra={"xl/comments1.bin": b""}))

    assert document.metadata["notRead"] == ["comments"]


@pytest.mark.parametrize("rows", [[], PEOPLE])
def test_charts_of_microsoft_graph_are_tables_below_their_sheet(rows: list[list[Cell]]) -> None:
    parts = beside(oleObject="")
    parts["xl/oleObject.xml"] = graph([["", "2024"], ["Rome", 7.5]])

    document = extract(xlsx({"S": rows}, extra=parts))

    assert document.text.endswith("|  | 2024 |\n|---|---|\n| Rome | 7.5 |")


def test_a_damaged_object_costs_no_other() -> None:
    parts = beside(
        oleObject="", drawing=f"<wsDr {_DRAWN}><pic><cNvPr descr='A pump'/></pic></wsDr>"
    )
    parts["xl/oleObject.xml"] = graph([["", "2024"]])[:2000]

    document = extract(xlsx({"S": PEOPLE}, extra=parts))

    assert document.text.endswith("A pump")
    assert "graphics_skipped" in document.warnings
