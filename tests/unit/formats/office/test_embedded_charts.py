"""Charts of Microsoft Graph and LibreOffice, embedded in files of Office 97."""

import io
import struct
import zipfile

import olefile
import pytest

from ingest.formats.office.embedded_charts import chart_in
from ingest.formats.office.rtf import objects as rtf_objects
from ingest.formats.registry import extract
from ingest.formats.word.word_97 import reader
from tests.builders.make_graph_97 import CATEGORIES, TITLE, VALUES, graph
from tests.builders.make_mail import Kept, ole
from tests.builders.make_office import doc, packaged_file, paragraph, word
from tests.builders.make_powerpoint_97 import Slide, group, presentation, shape, text

_ROWS: list[list[str | float | None]] = [
    [None, "2023", "2024"],
    ["Łódź", 1.5, 2250.0],
    ["Rome", None, 0.25],
]
_TABLE = "|  | 2023 | 2024 |\n|---|---|---|\n| Łódź | 1.5 | 2250 |\n| Rome |  | 0.25 |"


def test_the_data_sheet_of_a_graph_is_its_table() -> None:
    titles = {TITLE: "Cargo", VALUES: "tonnes", CATEGORIES: "Port"}

    assert chart_in(graph(_ROWS, titles=titles)) == (
        "Cargo (tonnes)\n\n| Port | 2023 | 2024 |\n|---|---|---|\n| Łódź | 1.5 | 2250 |"
        "\n| Rome |  | 0.25 |"
    )


@pytest.mark.parametrize(
    ("form", "code", "shown"),
    [(9, "", "25%"), (4, "", "0.25"), (164, '0.0" km"', "0.3 km"), (999, "", "0.25")],
)
def test_numbers_of_a_graph_are_shown_by_their_format(form: int, code: str, shown: str) -> None:
    formats = {form: code} if code else {}

    assert f"| A | {shown} |" in chart_in(
        graph([["", "x"], ["A", 0.25]], form=form, formats=formats)
    )


def test_a_chart_of_libreoffice_is_its_table() -> None:
    content = (
        "<office:body xmlns:office='o' xmlns:chart='c' xmlns:table='t' xmlns:text='x'>"
        "<office:chart><chart:chart><chart:title><text:p>Cargo</text:p></chart:title>"
        "<chart:axis chart:dimension='x'><chart:title><text:p>Year</text:p></chart:title>"
        "</chart:axis><table:table><table:table-row><table:table-cell/><table:table-cell>"
        "<text:p>Imports</text:p></table:table-cell></table:table-row><table:table-row>"
        "<table:table-cell><text:p>2024</text:p></table:table-cell><table:table-cell>"
        "<text:p>31.5</text:p></table:table-cell></table:table-row></table:table></chart:chart>"
        "</office:chart></office:body>"
    )
    package = io.BytesIO()
    with zipfile.ZipFile(package, "w") as archive:
        archive.writestr("content.xml", content)

    assert chart_in(ole({"package_stream": package.getvalue()})) == (
        "Cargo\n\n| Year | Imports |\n|---|---|\n| 2024 | 31.5 |"
    )


def test_charts_of_a_slide_stand_in_their_place_and_are_no_files() -> None:
    shapes = [
        shape(text("below"), at=(3000, 0)),
        group(shape(embedded=2, inside=True), own=shape(at=(1000, 0))),
        shape(text("above")),
        shape(embedded=2, at=(3500, 0)),
        shape(embedded=1, at=(4000, 0)),
        shape(embedded=7),
    ]
    embedded = [packaged_file("plan.txt", b"The plan"), graph(_ROWS)]
    kept = Kept()

    document = extract(
        io.BytesIO(presentation(Slide(shapes=shapes), embedded=embedded)),
        name="a.ppt",
        members=kept,
    )

    assert document.text == (f"## Slide 1\n\nabove\n\n{_TABLE}\n\nbelow")
    assert kept.files == {"plan.txt": b"The plan"}
    names = [item["name"] for item in document.metadata["attachments"]]
    assert names == ["plan.txt"]


def word_2007() -> bytes:
    shown = '<o:OLEObject xmlns:o="o" ProgID="MSGraph.Chart.8" r:id="object1.bin"/>'
    body = f"{paragraph('Before.')}<w:p><w:r><w:object>{shown}</w:object></w:r></w:p>"
    return word(body, {"object1.bin": ("oleObject", graph(_ROWS))})


def rich_text() -> bytes:
    native = graph(_ROWS)
    name = b"MSGraph.Chart.8\0"
    head = struct.pack("<III", 0x501, 2, len(name)) + name + bytes(8)
    digits = (head + struct.pack("<I", len(native)) + native).hex().encode()
    return b"{\\rtf1\\ansi Before.\\par {\\object{\\*\\objdata " + digits + b"}}\\par}"


def word_97() -> bytes:
    stream = olefile.OleFileIO(io.BytesIO(graph(_ROWS))).openstream("Workbook").read()
    return doc("Before.\r", objects={"_1": {"Workbook": stream}, "_2": {"Workbook": b"\t\x08"}})


@pytest.mark.parametrize(
    ("data", "name"),
    [(word_2007(), "a.docx"), (rich_text(), "a.rtf"), (word_97(), "a.doc")],
    ids=["docx", "rtf", "doc"],
)
def test_graphs_of_texts_are_tables_and_no_files(data: bytes, name: str) -> None:
    kept = Kept()

    document = extract(io.BytesIO(data), name=name, members=kept)

    assert document.text.strip().split("\n\n") == ["Before.", _TABLE]
    assert not kept.files


def test_charts_of_a_text_are_read_up_to_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = olefile.OleFileIO(io.BytesIO(graph(_ROWS))).openstream("Workbook").read()
    data = doc("Before.\r", objects={"_1": {"Workbook": stream}, "_2": {"Workbook": stream}})

    assert extract(io.BytesIO(data), name="a.doc").text.count(_TABLE) == 2
    monkeypatch.setattr(reader, "_LARGEST", len(stream))
    assert extract(io.BytesIO(data), name="a.doc").text.count(_TABLE) == 1


def test_objects_of_rtf_beyond_the_most_are_said_to_be_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = rich_text()
    begin, end = data.index(b"{\\object"), data.rindex(b"\\par")
    twice = data[:end] + data[begin:end] + data[end:]

    whole = extract(io.BytesIO(twice), name="a.rtf")
    monkeypatch.setattr(rtf_objects, "MOST", 1)
    part = extract(io.BytesIO(twice), name="a.rtf")

    assert (whole.text.count(_TABLE), whole.warnings) == (2, ())
    assert (part.text.count(_TABLE), part.warnings) == (1, ("attachments_not_kept",))
