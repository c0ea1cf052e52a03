"""Files that are embedded in documents of Office 97 and in workbooks."""

import io

import pytest

from ingest.formats.registry import extract
from tests.builders.make_mail import Kept, Tree, ole
from tests.builders.make_office import doc, packaged, packaged_file
from tests.builders.make_sheets import excel_97_stream, xlsx

_PDF = b"%PDF-1.4 of a plan"
_OBJECTS: dict[str, Tree] = {
    "_1": {"\x01Ole10Native": packaged("plan.txt", b"Plan B")},
    "_2": {"CONTENTS": _PDF, "\x01CompObj": b"x"},
    "_3": {"\x01Ole10Native": b"damaged"},
    "_4": {"Package": b"PK\x03\x04 of a letter"},
    "_5": {"WordDocument": b"is no file of its own"},
}


def workbook_97() -> bytes:
    stream = excel_97_stream([["Name", "Age"], ["Ann", 34.0]])
    return ole({"Workbook": stream, **{f"MBD{key}": tree for key, tree in _OBJECTS.items()}})


@pytest.mark.parametrize(
    ("data", "name", "prefix"),
    [(doc("Text.\r", objects=_OBJECTS), "a.doc", ""), (workbook_97(), "a.xls", "MBD")],
    ids=["doc", "xls"],
)
def test_objects_of_office_97_become_files(data: bytes, name: str, prefix: str) -> None:
    kept = Kept()

    document = extract(io.BytesIO(data), name=name, members=kept)

    assert kept.files == {
        "plan.txt": b"Plan B",
        f"{prefix}_2.pdf": _PDF,
        f"{prefix}_4": b"PK\x03\x04 of a letter",
    }
    sizes = {item["name"]: item["sizeBytes"] for item in document.metadata["attachments"]}
    assert sizes == {"plan.txt": 6, f"{prefix}_2.pdf": 18, f"{prefix}_3": 0, f"{prefix}_4": 16}


def test_objects_of_workbooks_become_files() -> None:
    extra = {
        "xl/embeddings/oleObject1.bin": packaged_file("plan.txt", b"Plan B"),
        "xl/embeddings/letter.docx": b"PK\x03\x04 of a letter",
    }
    kept = Kept()

    document = extract(
        io.BytesIO(xlsx({"S": [["Name"], ["Ann"]]}, extra=extra)), name="a.xlsx", members=kept
    )

    assert kept.files == {"plan.txt": b"Plan B", "letter.docx": b"PK\x03\x04 of a letter"}
    assert len(document.metadata["attachments"]) == 2
