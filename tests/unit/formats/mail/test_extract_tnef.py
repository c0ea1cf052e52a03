"""`winmail.dat`: files and bodies that Outlook packed into it."""

import base64
import io
import struct
from collections.abc import Sequence

from ingest.formats.registry import extract as extract_file
from tests.builders.make_mail import Kept, multipart

GUID = bytes(16)
STRING, STRING8, OBJECT, BINARY, LONG, SEVERAL_LONGS = 0x1F, 0x1E, 0x0D, 0x0102, 0x03, 0x1003
NAME, DATA, HTML, BODY = 0x3707, 0x3701, 0x1013, 0x1000
TABLE = b"Item,Price\nBolt,5\nNut,7\n"


def attribute(number: int, data: bytes, *, level: int = 1) -> bytes:
    checksum = struct.pack("<H", sum(data) & 0xFFFF)
    return bytes([level]) + struct.pack("<HHI", number, 0, len(data)) + data + checksum


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def prop(kind: int, number: int, data: bytes, *, name: str = "") -> bytes:
    head = struct.pack("<HH", kind, number)
    if name:
        wide = (name + "\0").encode("utf-16-le")
        head += GUID + struct.pack("<II", 1, len(wide)) + padded(wide)
    elif number >= 0x8000:
        head += GUID + struct.pack("<II", 0, 7)
    if kind in (LONG, SEVERAL_LONGS):
        return head + data
    return head + struct.pack("<II", 1, len(data)) + padded(data)


def props(*items: bytes) -> bytes:
    return struct.pack("<I", len(items)) + b"".join(items)


def tnef(*attributes: bytes, code_page: int = 1252) -> bytes:
    page = attribute(0x9007, struct.pack("<II", code_page, 0))
    return struct.pack("<IH", 0x223E9F78, 1) + page + b"".join(attributes)


def file(name: bytes, data: bytes, *properties: bytes) -> bytes:
    about = attribute(0x9005, props(*properties), level=2) if properties else b""
    return (
        attribute(0x9002, bytes(14), level=2)
        + attribute(0x8010, name + b"\0", level=2)
        + (attribute(0x800F, data, level=2) if data else b"")
        + about
    )


def mail(data: bytes, *, body: str = "See the files.", kind: str = "application/ms-tnef") -> bytes:
    packed = (
        f"Content-Type: {kind}; name=winmail.dat\r\nContent-Transfer-Encoding: base64\r\n\r\n"
        f"{base64.encodebytes(data).decode()}"
    )
    parts: Sequence[str] = [f"Content-Type: text/plain\r\n\r\n{body}", packed] if body else [packed]
    return multipart("mixed", *parts)


def kept(data: bytes, name: str = "a.eml") -> tuple[str, Kept]:
    sink = Kept()
    return extract_file(io.BytesIO(data), name=name, members=sink).text, sink


def test_files_come_out_under_their_names() -> None:
    old = file("Größe.csv".encode("cp1252"), TABLE)
    wide = prop(STRING, NAME, "Übersicht der Preise.csv\0".encode("utf-16-le"))
    new = file(
        b"UEBERS~1.CSV",
        TABLE,
        prop(LONG, 0x0E21, bytes(4)),
        prop(SEVERAL_LONGS, 0x6666, struct.pack("<III", 2, 1, 2)),
        prop(STRING8, 0x8001, b"x\0", name="Keywords"),
        prop(LONG, 0x8002, bytes(4)),
        wide,
    )

    text, sink = kept(mail(tnef(old, new)))

    assert sink.files == {"Größe.csv": TABLE, "Übersicht der Preise.csv": TABLE}
    assert "See the files." in text
    assert not sink.refused


def test_the_name_of_the_file_identifies_it_if_its_type_does_not() -> None:
    _, sink = kept(mail(tnef(file(b"a.csv", TABLE)), kind="application/octet-stream"))

    assert sink.files == {"a.csv": TABLE}


def test_the_packed_body_is_read_if_there_is_no_other() -> None:
    page = props(prop(BINARY, HTML, b"<p>Offer of <b>12</b> pumps</p>"))

    text, _ = kept(mail(tnef(attribute(0x9003, page)), body=""))

    assert "Offer of **12** pumps" in text


def test_the_packed_body_is_left_out_beside_another() -> None:
    text, _ = kept(mail(tnef(attribute(0x800C, b"Same text, packed\0"))))

    assert "See the files." in text
    assert "packed" not in text


def test_packed_messages_become_files_of_their_own() -> None:
    inner = tnef(attribute(0x8004, b"Inner subject\0"), attribute(0x800C, b"Inner text\0"))
    forwarded = file(b"Inner", b"", prop(OBJECT, DATA, GUID + inner))

    _, sink = kept(mail(tnef(forwarded)))

    (data,) = sink.files.values()
    assert "# Inner subject\n\nInner text" in kept(data)[0]


def test_winmail_dat_by_itself_is_a_message() -> None:
    data = tnef(
        attribute(0x8004, b"The subject\0"),
        attribute(0x800C, "Ящик\0".encode("cp1251")),
        file(b"a.csv", TABLE),
        code_page=1251,
    )

    text, sink = kept(data, "winmail.dat")

    assert text == "# The subject\n\nЯщик"
    assert sink.files == {"a.csv": TABLE}


def test_files_before_the_place_where_it_is_cut_off_are_kept() -> None:
    whole = tnef(file(b"a.csv", TABLE), file(b"b.csv", TABLE, prop(STRING, NAME, b"b\0")))

    for end in range(len(whole) - 80, len(whole)):
        _, sink = kept(mail(whole[:end]))
        assert sink.files["a.csv"] == TABLE
