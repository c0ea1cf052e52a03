"""Content first, then the name, then what was declared."""

import io

import pytest

from ingest.errors import Permanent
from ingest.formats import media_types as types
from ingest.formats.detect.sniff import Sniffed, sniff
from tests.builders import make_files


def kind(data: bytes, name: str | None = None, declared: str | None = None) -> str:
    return sniff(io.BytesIO(data), name=name, declared=declared).media_type


def refusal(data: bytes, name: str | None = None) -> str:
    with pytest.raises(Permanent) as caught:
        sniff(io.BytesIO(data), name=name)
    return caught.value.code


OOXML = {"[Content_Types].xml": b"<Types/>"}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (make_files.pdf(), types.PDF),
        (b"junk before\n" + make_files.pdf(), types.PDF),
        (make_files.docx(), types.DOCX),
        (make_files.zipped({**OOXML, "xl/workbook.xml": b"<x/>"}), types.XLSX),
        (make_files.zipped({**OOXML, "xl/workbook.bin": b""}), types.XLSB),
        (make_files.zipped({**OOXML, "ppt/presentation.xml": b"<x/>"}), types.PPTX),
        (make_files.zipped({"mimetype": types.ODT.encode()}), types.ODT),
        (make_files.zipped({"mimetype": b"application/epub+zip\n"}), types.EPUB),
        (make_files.zipped({"notes.txt": b"x", "word/x.txt": b"x"}), types.ZIP),
        (make_files.png(), types.PNG),
        (b"\xff\xd8\xff\xe0" + bytes(60), types.JPEG),
        (b"\x1f\x8b\x08" + bytes(60), types.GZIP),
        (rb"{\rtf1\ansi Hello}", types.RTF),
    ],
)
def test_content_overrides_the_file_name(data: bytes, expected: str) -> None:
    assert kind(data) == kind(data, "a.csv", "text/html") == expected


@pytest.mark.parametrize(
    ("data", "name", "declared", "expected"),
    [
        (b"<!DOCTYPE html><p>Hi", "a.txt", None, types.HTML),
        (b"<?xml version='1.0'?>\n<!-- x --><html xmlns='x'>", None, None, types.HTML),
        (b"<p>Hi</p><br><p>there</p>", None, None, types.HTML),
        (b"<p>Hi</p><br><p>there</p>", "readme.md", None, types.MARKDOWN),
        (b"<?xml version='1.0'?><a/>", None, None, types.XML),
        (b"# Head\n\n- item\n", None, None, types.MARKDOWN),
        (b"# Head\n\n- item\n", "notes.txt", None, types.TEXT),
        (b"a,b,c\n1,2,3\n4,5,6\n7,8,9\n", None, None, types.CSV),
        (b'"quoted" words', "x.txt", None, types.TEXT),
        (b'{"a": 1}', "a.json", None, types.JSON),
        (b"plain", None, "text/markdown; charset=utf-8", types.MARKDOWN),
        (b"plain", "x.txt", "text/markdown", types.TEXT),
        (b"a;b", "UPPER.CSV", None, types.CSV),
        (b"hello", "page.htm", None, types.HTML),
        (b"BM is how this text starts", None, None, types.TEXT),
        (b"From: a@b.c\nTo: d@e.f\nSubject: x\n\nbody", None, None, types.EMAIL),
        ("Hi <b>there</b>".encode("utf-16"), "a.txt", None, types.TEXT),
    ],
)
def test_text_formats_are_distinguished(
    data: bytes, name: str | None, declared: str | None, expected: str
) -> None:
    assert kind(data, name, declared) == expected


def test_type_mismatch_is_reported() -> None:
    assert sniff(io.BytesIO(make_files.pdf()), name="a.txt") == Sniffed(types.PDF, mismatch=True)
    assert not sniff(io.BytesIO(make_files.pdf()), name="a.pdf").mismatch
    assert not sniff(io.BytesIO(b"text"), name="no suffix").mismatch


@pytest.mark.parametrize("data", [b"", b" \r\n\t ", b"\0\0\0"])
def test_empty_file_is_empty_content(data: bytes) -> None:
    assert refusal(data, "a.pdf") == "empty_content"


def test_text_named_like_a_binary_format_is_corrupt() -> None:
    assert refusal(b"this is not a pdf", "a.pdf") == "corrupt"
    assert refusal(b"nor a word file", "a.docx") == "corrupt"


def test_a_truncated_package_is_corrupt() -> None:
    assert refusal(make_files.docx()[:500]) == "corrupt"


def test_bytes_of_no_known_format_are_unsupported() -> None:
    assert refusal(bytes(range(256)) * 4, "a.txt") == "unsupported_type"


def test_a_broken_ole_container_is_corrupt() -> None:
    assert refusal(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\xff" * 600) == "corrupt"


def test_encrypted_office_file_differs_from_a_broken_one() -> None:
    assert refusal(make_files.encrypted_office(), "a.docx") == "encrypted"


def test_the_file_is_left_at_its_start() -> None:
    file = io.BytesIO(make_files.docx())

    sniff(file)

    assert file.tell() == 0


def test_message_with_unencoded_pdf_attachment_is_not_detected_as_pdf() -> None:
    data = (
        b"From: a@example.org\r\nTo: b@example.org\r\nSubject: Plan\r\nMIME-Version: 1.0\r\n"
        b"Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n"
        b"Content-Type: application/pdf\r\n\r\n" + make_files.pdf(["The plan"]) + b"\r\n--x--\r\n"
    )

    assert sniff(io.BytesIO(data), name="plan.eml").media_type == types.EMAIL
