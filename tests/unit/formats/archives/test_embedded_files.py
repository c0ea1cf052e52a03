"""Files that are embedded in documents of Office 97, in workbooks and in RTF."""

import io
import struct
from pathlib import Path

import pytest

from ingest.formats.archives.members import FolderSink
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


def rtf(*objects: bytes) -> bytes:
    return b"{\\rtf1\\ansi Before \\par " + b"\\par ".join(objects) + b" after.\\par}"


def rtf_object(kind: str, data: bytes, *, is_link: bool = False, is_binary: bool = False) -> bytes:
    """An object with its header ([MS-OLEDS] 2.2), in digits on several lines or as it is."""
    name = kind.encode() + b"\0"
    head = struct.pack("<III", 0x501, 1 if is_link else 2, len(name)) + name + bytes(8)
    whole = head + struct.pack("<I", len(data)) + data + b"\1\5\0\0"
    digits = whole.hex().encode()
    written = b"\r\n".join(digits[at : at + 40] for at in range(0, len(digits), 40))
    written = b"\\bin%d " % len(whole) + whole if is_binary else written
    return b"{\\object\\objemb{\\*\\objdata " + written + b"}{\\result shown}}"


def test_objects_of_rtf_become_files() -> None:
    letter = ole({"WordDocument": b"of a letter"})
    kept = Kept()
    data = rtf(
        rtf_object("Package", packaged("plan.txt", b"Plan } B")[4:]),
        rtf_object("Package", packaged("note.txt", b"} {\\b bytes")[4:], is_binary=True),
        rtf_object("Word.Document.8", letter),
        rtf_object("AcroExch.Document", ole({"CONTENTS": _PDF})),
        rtf_object("Word.Document.8", letter, is_link=True),
        rtf_object("Package", packaged("linked.txt", b"of no file")[4:], is_link=True),
        rtf_object("PBrush", b"no file"),
        b"{\\object{\\*\\objdata 01050000zz}}",
    )

    document = extract(io.BytesIO(data), name="a.rtf", members=kept)

    assert kept.files == {
        "plan.txt": b"Plan } B",
        "note.txt": b"} {\\b bytes",
        "object3.doc": letter,
        "object4.pdf": _PDF,
    }
    assert [item["sizeBytes"] for item in document.metadata["attachments"]] == [
        8, 11, len(letter), 18, 0, 0, 0,
    ]  # fmt: skip
    assert document.text.split() == ["Before", *["shown"] * 7, "after."]


def test_objects_of_rtf_that_were_cut_off_or_state_too_many_bytes_cost_nothing_else() -> None:
    plan = rtf_object("Package", packaged("plan.txt", b"Plan B")[4:])
    odd = plan.replace(b"0}{\\result", b" \n}{\\result")
    endless = b"{\\object{\\*\\objdata\\bin999999999 \1\5}{\\result shown}}"
    kept = Kept()

    document = extract(io.BytesIO(rtf(odd, endless)), name="a.rtf", members=kept)

    assert odd != plan
    assert kept.files == {"plan.txt": b"Plan B"}
    assert document.text.split() == ["Before", "shown", "shown", "after."]


def test_names_of_files_in_rtf_are_no_paths_out_of_their_folder(tmp_path: Path) -> None:
    names = ("..\\..\\a.txt", "..", "C:\\x\\", "/etc/passwd", "")
    data = rtf(*(rtf_object("Package", packaged(name, b"a file")[4:]) for name in names))
    sink = FolderSink(tmp_path / "m", max_members=9, max_bytes=99, max_member_bytes=99)

    extract(io.BytesIO(data), name="a.rtf", members=sink)

    assert [member.path for member in sink.members] == [
        "a.txt", "unnamed", "object3.bin", "passwd", "object5.bin",
    ]  # fmt: skip


def test_a_packed_file_keeps_its_name_and_stays_as_it_is() -> None:
    names = ("C:\\plans\\план.msg\0", "план.msg\0")
    behind = b"".join(struct.pack("<I", len(name)) + name.encode("utf-16-le") for name in names)
    mail = ole({"__properties_version1.0": b"of a message"})
    kept = Kept()

    extract(
        io.BytesIO(rtf(rtf_object("Package", packaged("????.msg", mail)[4:] + behind))),
        name="a.rtf",
        members=kept,
    )

    assert kept.files == {"план.msg": mail}
