"""Containers by their parts, odd and minimal ones too; formats that nobody reads, by name."""

import io
import lzma
import struct
import tarfile
import zipfile

import pytest

from ingest.errors import Permanent
from ingest.formats import catalog
from ingest.formats import media_types as types
from ingest.formats.detect.sniff import sniff
from tests.builders import make_files

MAIN = b'<Override ContentType="application/vnd.%s.main+xml"/>'


def kind(data: bytes, name: str | None = None) -> str:
    return sniff(io.BytesIO(data), name=name).media_type


def tar() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        member = tarfile.TarInfo("a.txt")
        member.size = 5
        archive.addfile(member, io.BytesIO(b"words"))
    return buffer.getvalue()


def old_tar() -> bytes:
    """A tar as it was written before it had `ustar` in its header."""
    header = bytearray(tar()[:512])
    header[257:345] = bytes(88)
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + b"words".ljust(1024, b"\0")


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"word/document.xml": b"x"}, types.DOCX),
        ({"word\\document.xml": b"x"}, types.DOCX),
        ({"/xl/workbook.xml": b"x"}, types.XLSX),
        ({"[content_types].XML": MAIN % b"openxmlformats-officedocument.wordprocessingml.document",
          "main.xml": b"x"}, types.DOCX),
        ({"[Content_Types].xml": MAIN % b"ms-word.template.macroEnabledTemplate"}, types.DOCX),
        ({"[Content_Types].xml": MAIN % b"ms-excel.sheet.macroEnabled"}, types.XLSX),
        ({"[Content_Types].xml": MAIN % b"openxmlformats-officedocument.presentationml.slideshow"},
         types.PPTX),
        ({"_rels/.rels": b"x", "ppt/slides/slide1.xml": b"x"}, types.PPTX),
        ({"content.xml": b"x", "mimetype": types.ODS.encode()}, types.ODS),
        ({"mimetype": types.ODT.encode() + b"-template"}, types.ODT),
        ({"mimetype": types.ODT.encode() + b"-master\r\n"}, types.ODT),
        ({"content.xml": b"x", "META-INF/manifest.xml": b'media-type="' + types.ODP.encode()
          + b'"'}, types.ODP),
        ({"META-INF/container.xml": b"x", "OEBPS/book.opf": b"x"}, types.EPUB),
        ({"META-INF/MANIFEST.MF": b"x", "a/B.class": b"x"}, types.ZIP),
        ({"AndroidManifest.xml": b"x", "classes.dex": b"x"}, types.ZIP),
        ({"report/word/document.xml": b"x"}, types.ZIP),
        ({"content.xml": b"x", "META-INF/manifest.xml": b"x"}, types.ZIP),
        ({"mimetype": b"\xff\xfe nonsense"}, types.ZIP),
        ({"mimetype": b"application/vnd.oasis.opendocument.te\0xt"}, types.ZIP),
        ({"mimetype": b"application/vnd.oasis.opendocument.<b>"}, types.ZIP),
    ],
)  # fmt: skip
def test_zip_formats_are_detected_by_their_parts(members: dict[str, bytes], expected: str) -> None:
    assert kind(make_files.zipped(members), "a.bin") == expected


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"Index/Document.iwa": b"x"}, "Apple Pages"),
        ({"visio/document.xml": b"x"}, "Visio"),
        ({"mimetype": b"application/vnd.oasis.opendocument.graphics"}, "OpenDocument drawing"),
        ({"mimetype": b"application/vnd.sun.xml.writer"}, "OpenOffice.org 1"),
    ],
)
def test_unsupported_document_is_named(members: dict[str, bytes], words: str) -> None:
    assert words in catalog.label(kind(make_files.zipped(members)))


def test_zip_with_encrypted_or_damaged_first_part_is_detected() -> None:
    data = bytearray(make_files.zipped({"mimetype": b"x" * 40, "word/document.xml": b"x"}))
    data[40:50] = b"\0" * 10

    assert kind(bytes(data)) == types.DOCX


def test_a_zip_with_a_huge_list_of_members_is_not_read() -> None:
    data = make_files.zipped({"word/document.xml": b"x"})
    huge = data[:-10] + struct.pack("<I", 0x7FFFFFFF) + data[-6:]

    assert kind(huge) == types.ZIP


def test_zip64_with_size_in_the_extra_field_is_read() -> None:
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(buffer, "w") as archive,
        archive.open("word/document.xml", "w", force_zip64=True) as part,
    ):
        part.write(b"x")

    assert kind(buffer.getvalue()) == types.DOCX


def test_tar_is_detected_by_its_checksum() -> None:
    assert kind(tar()) == kind(old_tar(), "a.txt") == types.TAR
    assert kind(b"a" * 600) == kind(b"1234567 " * 100) == types.TEXT


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"SQLite format 3\0" + b"\1" * 100, "an SQLite database"),
        (b"PAR1" + bytes(range(256)) * 4, "a Parquet file"),
        (b"7z\xbc\xaf\x27\x1c" + bytes(200), "a 7-Zip archive"),
        (b"Rar!\x1a\x07\1\0" + bytes(200), "a RAR archive"),
        (bytes(0x8001) + b"CD001\1" + bytes(range(256)) * 9, "a disc image"),
        (b"ID3\4" + bytes(range(256)) * 4, "an audio file"),
        (b"\0\0\0\x20ftypisom" + bytes(range(256)) * 4, "a video"),
        (b"\0\0\0\x20ftypheic" + bytes(range(256)) * 4, "a HEIC or AVIF picture"),
        (b"RIFF\1\2\3\4WAVE" + bytes(range(256)), "an audio file"),
        (b"MZ\x90\0\3\0\0\0" + bytes(range(256)) * 4, "a Windows program"),
        (b"\x7fELF\2\1\1" + bytes(200), "a program"),
        (b"wOF2" + bytes(range(256)), "a font"),
        (b"\x89LZO\0\r\n\x1a\n" + b"\x10" * 99, "an lzop file"),
        (lzma.compress(bytes(99), lzma.FORMAT_ALONE), "an LZMA file (.lzma)"),
        (b"\x9b\xa5\x21\0" + bytes(200), "a Word 1 or Word 2 document"),
        (b"\0\0\0\x0cjP  \r\n\x87\n" + bytes(200), "a JPEG 2000 picture"),
        (b"8BPS\0\1" + bytes(200), "a Photoshop picture"),
        (b"%!PS-Adobe-3.0\n%%Title: x\n", "a PostScript file"),
        (b"G" + bytes(range(1, 188)) + (b"G" + bytes(187)) * 9, "a video"),
    ],
)
def test_unsupported_signatures_are_named(data: bytes, words: str) -> None:
    assert catalog.label(kind(data, "a.txt")) == words


@pytest.mark.parametrize(
    "data",
    [
        b"ID3 tags are how music files say what they are.",
        b"PAR1 and PAR2 are kinds of archives.",
        b"MZ marks programs.",
        b"OggS is how a page begins.",
        b"BM is short.",
        b"Code: if head.startswith(b'%PDF-1.4'): return PDF",
        b"xar! said the bird",
    ],
)
def test_a_text_that_begins_like_another_format_is_text(data: bytes) -> None:
    assert kind(data) == types.TEXT


def test_a_sheet_of_excel_4_has_no_container() -> None:
    assert kind(b"\x09\x04\x06\0\0\0\x10\0" + bytes(range(256)), "a.xls") == types.XLS


def test_bitmaps_and_bzip2_need_more_than_their_two_letters() -> None:
    assert kind(b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0" + bytes(60)) == types.BMP
    assert kind(b"BZh91AY&SY" + bytes(60)) == types.BZIP2
    assert kind(b"BZh91 is no archive") == types.TEXT


@pytest.mark.parametrize("data", [b"-----BEGIN PGP MESSAGE-----\n\nx", b"age-encryption.org/v1\nx"])
def test_encrypted_file_is_refused_as_encrypted(data: bytes) -> None:
    with pytest.raises(Permanent) as caught:
        kind(data, "a.txt")

    assert caught.value.code == "encrypted"


@pytest.mark.parametrize(
    ("data", "name", "declared", "mismatch"),
    [
        (make_files.docx(), "a.doc", None, True),
        (b"<!DOCTYPE html>", "a.txt", None, True),
        (b'{"a": 1}', "a.txt", None, True),
        (b"<?xml version='1.0'?><html>", "a.xml", None, False),
        (b'{"a": 1}\n{"a": 2}', "a.json", None, False),
        (make_files.pdf(), None, "text/html", True),
        (make_files.pdf(), None, "application/octet-stream", False),
        (make_files.pdf(), "a.pdf", "text/html", False),
        (b"words", "Makefile", None, False),
    ],
)
def test_name_or_declared_type_mismatch_is_reported(
    data: bytes, name: str | None, declared: str | None, mismatch: bool
) -> None:
    assert sniff(io.BytesIO(data), name=name, declared=declared).mismatch == mismatch
