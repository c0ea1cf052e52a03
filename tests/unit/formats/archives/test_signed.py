"""A signed file is read as what was signed."""

import base64
import gzip
import io
import tracemalloc
from pathlib import Path

import pytest

from ingest.errors import IsArchive, Permanent
from ingest.formats.archives.members import FolderSink
from ingest.formats.archives.unpack import unpack
from ingest.formats.common.signed_data import signed_content
from ingest.formats.registry import extract
from ingest.model import Document
from tests.builders.make_archives import zip_of
from tests.builders.make_mail import signed_block

INVOICE = b'<?xml version="1.0"?><Invoice><Number>FPR-77</Number></Invoice>'
MESSAGE = b"Content-Type: text/plain; charset=utf-8\r\n\r\nThe pump is signed for.\r\n"


def read(data: bytes, name: str) -> Document:
    return extract(io.BytesIO(data), name=name)


def code_of(data: bytes, name: str) -> str:
    with pytest.raises(Permanent) as caught:
        read(data, name)
    return caught.value.code


def armoured(data: bytes, label: str = "PKCS7") -> bytes:
    lines = base64.encodebytes(data).decode()
    return f"-----BEGIN {label}-----\n{lines}-----END {label}-----\n".encode()


def of_indefinite_length(content: bytes) -> bytes:
    """As programs write what they sign while they read it: pieces, and marks at the ends."""
    pieces = b"".join(
        bytes([0x04, len(piece)]) + piece
        for piece in (content[at : at + 20] for at in range(0, len(content), 20))
    )
    data_oid = bytes.fromhex("06092a864886f70d010701")
    inner = b"\x30\x80" + data_oid + b"\xa0\x80\x24\x80" + pieces + bytes(6)
    body = b"\x30\x80\x02\x01\x01\x31\x00" + inner + bytes(2)
    return b"\x30\x80\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02\xa0\x80" + body + bytes(4)


@pytest.mark.parametrize(
    "data",
    [
        signed_block(INVOICE),
        base64.b64encode(signed_block(INVOICE)),
        base64.encodebytes(signed_block(INVOICE)),
        armoured(signed_block(INVOICE)),
        armoured(signed_block(INVOICE), "CMS"),
        of_indefinite_length(INVOICE),
        base64.encodebytes(of_indefinite_length(INVOICE)),
        signed_block(signed_block(INVOICE)),
    ],
)
def test_a_signed_file_is_read_as_the_file_inside(data: bytes) -> None:
    document = read(data, "invoice.xml.p7m")

    assert (document.media_type, document.text) == ("application/xml", "- Number: FPR-77")
    assert document.warnings == ()


def test_a_signed_file_may_be_compressed_and_the_other_way_round() -> None:
    assert read(gzip.compress(signed_block(INVOICE)), "a.xml.p7m.gz").text == "- Number: FPR-77"
    assert read(signed_block(gzip.compress(INVOICE)), "a.xml.gz.p7m").text == "- Number: FPR-77"


def test_the_name_without_the_suffix_is_a_hint() -> None:
    table = signed_block(b"a;b\r\n1;2\r\n")

    assert read(table, "table.csv.p7m").media_type == "text/csv"
    assert read(table, "TABLE.CSV.P7S").media_type == "text/csv"
    assert read(signed_block(b"# Pump"), "notes.md.p7m").media_type == "text/markdown"


@pytest.mark.parametrize("name", ["smime.p7m", "smime.p7s", "signed"])
def test_a_signed_message_is_read_as_a_message(name: str) -> None:
    document = read(signed_block(MESSAGE), name)

    assert (document.media_type, document.text) == ("message/rfc822", "The pump is signed for.")


def test_a_signed_message_under_a_few_headers_is_a_message() -> None:
    headers = (
        b"MIME-Version: 1.0\nContent-Disposition: attachment; filename=smime.p7m\n"
        b"Content-Type: application/x-pkcs7-mime; smime-type=signed-data;\n name=smime.p7m\n"
        b"Content-Transfer-Encoding: base64\n\n"
    )
    document = read(headers + base64.encodebytes(signed_block(MESSAGE)), "order.p7m")

    assert (document.media_type, document.text) == ("message/rfc822", "The pump is signed for.")
    assert document.warnings == ()


def test_a_signed_archive_is_an_archive(tmp_path: Path) -> None:
    data = signed_block(zip_of({"a.txt": b"Pump."}))
    with pytest.raises(IsArchive):
        read(data, "files.zip.p7m")
    sink = FolderSink(tmp_path, max_members=9, max_bytes=999, max_member_bytes=999)

    unpack(io.BytesIO(data), name="files.zip.p7m", sink=sink, on_member=lambda: None)

    assert [member.path for member in sink.members] == ["a.txt"]


def test_what_has_no_readable_content_says_so() -> None:
    signature = signed_block(b"").replace(bytes.fromhex("a0020400"), b"")

    assert code_of(signed_block(b"x", signed=False), "secret.pdf.p7m") == "encrypted"
    assert code_of(armoured(signed_block(b"x", signed=False)), "secret.p7m") == "encrypted"
    assert code_of(signed_block(INVOICE)[:-9], "invoice.xml.p7m") == "empty_content"
    assert code_of(signature, "contract.pdf.p7s") == "empty_content"


def test_text_that_quotes_a_signed_block_stays_text() -> None:
    note = b"The block begins with MIISNAYJKoZIhvcNAQcCoIISAQ in all of them.\n"

    assert read(note, "note.txt").media_type == "text/plain"


@pytest.mark.parametrize("name", [".", "/", "", ".p7m", "smime.p7m", "a/"])
def test_the_name_of_a_signed_file_may_tell_nothing(name: str) -> None:
    assert "The pump is signed for." in read(signed_block(MESSAGE), name).text


def test_signed_pieces_may_be_tiny() -> None:
    """Their number costs no memory: objects would be many times as large as the file."""
    head = of_indefinite_length(b"")[: -len(bytes(12))]
    data = head + b"\x04\x01a" * 200_000 + bytes(12)

    tracemalloc.start()
    content = signed_content(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert content == b"a" * 200_000
    assert peak < 2 * len(data)
