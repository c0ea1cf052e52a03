"""Addresses of the cells of workbooks that are links."""

import io
import zipfile
from collections.abc import Sequence

import pytest

from ingest.formats.registry import extract as extract_file
from tests.builders.make_sheets import Cell, ods, ods_row, xlsx

RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TARGETS = {"l1": "https://example.org/a?b=1&amp;c=2", "l2": "https://example.org/b/4711"}


def with_links(data: bytes, links: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(packed, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            if name.endswith("sheet1.xml"):
                part = part.replace(b"</worksheet>", links.encode() + b"</worksheet>")
            new.writestr(name, part)
    return packed.getvalue()


def linked(rows: Sequence[Sequence[Cell]] | str, *links: str) -> str:
    """The text of a sheet with links, such as `ref="A1" r:id="l1"`."""
    related = f'<Relationships xmlns="{RELATIONS}">' + "".join(
        f'<Relationship Id="{name}" Type="{OFFICE}/hyperlink" TargetMode="External"'
        f' Target="{target}"/>'
        for name, target in TARGETS.items()
    )
    extra = {"xl/worksheets/_rels/sheet1.xml.rels": f"{related}</Relationships>".encode()}
    stated = "".join(f"<hyperlink {link}/>" for link in links)
    data = xlsx({"S": rows}, formats=["0"], extra=extra)
    data = with_links(data, f'<hyperlinks xmlns:r="{OFFICE}">{stated}</hyperlinks>')
    return extract_file(io.BytesIO(data), name="a.xlsx").text.removeprefix("## S").strip()


@pytest.mark.usefixtures("any_reader")
def test_addresses_of_linked_cells_are_kept() -> None:
    rows: list[list[Cell]] = [
        ["Site", "Count"],
        ["Example", 5],
        ["https://example.org/b/4711", 6],
        ["Below", 7],
    ]
    links = [
        'ref="A1" r:id="l1"',
        'ref="A2:A2" r:id="l1"',
        'r:id="l2" ref="A3"',
        'ref="A4" location="S!A1"',
    ]

    assert linked(rows, *links) == (
        "- Site: [Example](https://example.org/a?b=1&c=2); Count: 5\n"
        "- Site: https://example.org/b/4711; Count: 6\n"
        "- Site: Below; Count: 7"
    )


def test_addresses_of_forms_are_kept() -> None:
    rows: list[list[Cell]] = [["Site:", "Home page"], ["Owner:", "Ann"], ["Town:", "Ulm"]]

    assert linked(rows, 'ref="A1:B1" r:id="l2"') == (
        "- Site: [Home page](https://example.org/b/4711)\n- Owner: Ann\n- Town: Ulm"
    )


@pytest.mark.usefixtures("any_reader")
def test_addresses_of_numbers_are_kept() -> None:
    rows: list[list[Cell]] = [["Ticket", "State"], [4711, "open"], [4712, "closed"]]

    assert linked(rows, 'ref="A2" r:id="l2"') == (
        "- Ticket: [4711](https://example.org/b/4711); State: open\n- Ticket: 4712; State: closed"
    )


@pytest.mark.parametrize("reference", ["A2:A3", "$A$2:$A$3", "A3:A2"])
def test_all_cells_of_a_range_are_linked(reference: str) -> None:
    rows: list[list[Cell]] = [["Name", "N"], ["Ann", 1], ["Bob", 2], ["Eve", 3]]

    assert linked(rows, f'ref="{reference}" r:id="l2"') == (
        "- Name: [Ann](https://example.org/b/4711); N: 1\n"
        "- Name: [Bob](https://example.org/b/4711); N: 2\n- Name: Eve; N: 3"
    )


def test_a_link_over_the_whole_sheet_leaves_room_for_others() -> None:
    rows: list[list[Cell]] = [["Name", "N"], ["Ann", 1], ["Bob", 2]]

    assert linked(rows, 'ref="A1:XFD1048576" r:id="l1"', 'ref="A3" r:id="l2"').endswith(
        "- Name: [Bob](https://example.org/b/4711); N: 2"
    )


@pytest.mark.parametrize(("times", "read"), [(9, "l2"), (10, "l1")])
def test_links_over_the_same_cells_are_read_until_they_are_too_many(times: int, read: str) -> None:
    rows: list[list[Cell]] = [["Name", "N"], ["Ann", 1], ["Bob", 2]]
    links = ['ref="A1:A10000" r:id="l1"'] * times

    address = TARGETS[read].replace("&amp;", "&")
    assert linked(rows, *links, 'ref="A3" r:id="l2"').endswith(f"- Name: [Bob]({address}); N: 2")


def test_addresses_of_numbers_of_open_document_are_kept() -> None:
    link = '<text:a xlink:href="https://example.org/b/4711" xmlns:xlink="x">4711</text:a>'
    number = ods_row("@", "open").replace(
        'office:value-type="string"', 'office:value-type="float" office:value="4711"', 1
    )
    data = ods(ods_row("Ticket", "State") + number.replace("@", link) + ods_row("12", "x"))

    assert extract_file(io.BytesIO(data), name="a.ods").text.startswith(
        "## S\n\n- Ticket: [4711](https://example.org/b/4711); State: open"
    )
