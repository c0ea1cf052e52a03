"""Documents without text of their own that hold files, in all formats that can."""

import io
from collections.abc import Mapping

import pytest

from ingest.errors import Permanent
from ingest.formats.registry import extract
from tests.builders import make_office, make_powerpoint_97, make_sheets
from tests.builders.make_mail import Kept, Tree, ole
from tests.builders.make_pdf import Sheet, attached

_PACKAGED = make_office.packaged_file("plan.txt", b"Plan B")
_OBJECT: Tree = {"\x01Ole10Native": make_office.packaged("plan.txt", b"Plan B")}
_RELATED = {"ole1.bin": ("oleObject", _PACKAGED)}
_MAIL = (
    b'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="x"\r\n\r\n'
    b"--x\r\nContent-Type: text/plain; name=plan.txt\r\n"
    b"Content-Disposition: attachment; filename=plan.txt\r\n\r\nPlan B\r\n--x--\r\n"
)

FILES: Mapping[str, bytes] = {
    "a.docx": make_office.word("", _RELATED),
    "a.pptx": make_office.presentation("", related=[_RELATED]),
    "a.xlsx": make_sheets.xlsx({"S": []}, extra={"xl/embeddings/o.bin": _PACKAGED}),
    "a.odt": make_office.open_document("", extra={"Object 1": _PACKAGED}),
    "a.ppt": make_powerpoint_97.presentation(make_powerpoint_97.Slide(), embedded=[_PACKAGED]),
    "a.xls": ole({"Workbook": make_sheets.excel_97_stream([]), "MBD0001": _OBJECT}),
    "a.pdf": attached(b"Plan B", "plan.txt", Sheet(content=b"")),
    "a.doc": make_office.doc("\r", objects={"_1": _OBJECT}),
    "a.eml": _MAIL,
}


@pytest.mark.parametrize("name", FILES)
def test_their_files_are_handed_on(name: str) -> None:
    kept = Kept()

    document = extract(io.BytesIO(FILES[name]), name=name, members=kept)

    assert kept.files == {"plan.txt": b"Plan B"}
    assert document.metadata["attachments"]
    assert (document.text.strip(), document.coverage.with_text) == ("", 0)


@pytest.mark.parametrize("name", FILES)
def test_they_have_no_text_if_no_files_are_wanted(name: str) -> None:
    with pytest.raises(Permanent) as caught:
        extract(io.BytesIO(FILES[name]), name=name)

    assert caught.value.code in ("no_text", "empty_content")
