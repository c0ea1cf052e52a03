"""`winmail.dat`: files and bodies that Outlook packed into it."""

import base64
import io
import re
import struct

import pytest

from ingest.errors import Permanent
from ingest.formats.registry import extract as extract_file
from tests.builders.make_mail import Kept, multipart
from tests.builders.make_tnef import (
    BINARY,
    DATA,
    GUID,
    HTML,
    LONG,
    NAME,
    OBJECT,
    SEVERAL_LONGS,
    STRING,
    STRING8,
    attribute,
    file,
    prop,
    props,
    tnef,
)  # fmt: skip

TNEF = "application/ms-tnef"
TABLE = b"Item,Price\nBolt,5\nNut,7\n"


def mail(
    data: bytes,
    *,
    body: str = "See the files.",
    kind: str = TNEF,
    is_first: bool = False,
) -> bytes:
    packed = (
        f"Content-Type: {kind}; name=winmail.dat\r\nContent-Transfer-Encoding: base64\r\n\r\n"
        f"{base64.encodebytes(data).decode()}"
    )
    parts = [f"Content-Type: text/plain\r\n\r\n{body}", packed] if body else [packed]
    return multipart("mixed", *(reversed(parts) if is_first else parts))


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


def test_a_cut_file_is_refused_and_those_before_it_are_kept() -> None:
    first, second = file(b"a.csv", TABLE), file(b"b.csv", TABLE)
    whole = tnef(first, second)

    for end in range(len(whole) - len(TABLE) - 2, len(whole)):
        _, sink = kept(mail(whole[:end]))
        assert sink.files == {"a.csv": TABLE}
        assert sink.refused == {"b.csv": "corrupt"}


def test_a_file_of_which_only_the_name_is_left_is_refused() -> None:
    _, sink = kept(mail(tnef(file(b"a.csv", TABLE), file(b"b.csv", b""))))

    assert (sink.files, sink.refused) == ({"a.csv": TABLE}, {"b.csv": "corrupt"})


def test_a_wrong_length_costs_its_file_and_none_before() -> None:
    broken = file(b"b.csv", TABLE).replace(
        struct.pack("<I", len(TABLE)) + TABLE, struct.pack("<I", 0x0FFFFFFF) + TABLE
    )

    _, sink = kept(mail(tnef(file(b"a.csv", TABLE), broken, file(b"c.csv", TABLE))))

    assert (sink.files, sink.refused) == ({"a.csv": TABLE}, {"b.csv": "corrupt"})


def test_a_file_that_does_not_match_its_checksum_is_refused() -> None:
    broken = file(b"b.csv", TABLE).replace(b"Bolt,5", b"Bolt,6")

    _, sink = kept(mail(tnef(broken, file(b"c.csv", TABLE))))

    assert (sink.files, sink.refused) == ({"c.csv": TABLE}, {"b.csv": "corrupt"})


def test_properties_that_are_whole_need_no_right_checksum() -> None:
    whole = file(b"B~1.CSV", b"", prop(STRING8, NAME, b"b.csv\0"), prop(BINARY, DATA, TABLE))

    _, sink = kept(mail(tnef(whole[:-2] + b"\xff\xff", file(b"c.csv", TABLE))))

    assert (sink.files, sink.refused) == ({"b.csv": TABLE, "c.csv": TABLE}, {})


@pytest.mark.parametrize("damaged", [b"<p>Offer</p>"[:-4], b""])
def test_a_damaged_body_is_reported_and_the_files_are_kept(damaged: bytes) -> None:
    page = props(prop(BINARY, HTML, b"<p>Offer</p>"))
    cut = attribute(0x9003, page.replace(b"<p>Offer</p>", damaged))

    _, sink = kept(mail(tnef(cut, file(b"a.csv", TABLE))))

    assert (sink.files, sink.refused) == ({"a.csv": TABLE}, {"winmail.dat": "corrupt"})


@pytest.mark.parametrize("rest", [b"", b"\1\0", b"\1\0" + b"\xa5\x5a\x77" * 50])
def test_nothing_but_the_signature_is_refused(rest: bytes) -> None:
    data = tnef()[:4] + rest

    text, sink = kept(mail(data))
    with pytest.raises(Permanent) as refused:
        kept(data, "winmail.dat")

    assert "See the files." in text
    assert sink.refused == {"winmail.dat": "corrupt"}
    assert refused.value.code == "corrupt"


def test_attachments_beyond_the_limit_are_left_out_and_reported() -> None:
    files = [file(b"%d.txt" % number, b"%d" % number) for number in range(1003)]

    _, sink = kept(mail(tnef(*files)))

    assert sink.files == {f"{number}.txt": str(number).encode() for number in range(1000)}
    assert sink.refused == {"winmail.dat": "archive_unsafe"}


def test_embedded_objects_are_stored_without_the_name_of_their_interface() -> None:
    _, sink = kept(mail(tnef(file(b"a.csv", b"", prop(OBJECT, DATA, GUID + TABLE)))))

    assert sink.files == {"a.csv": TABLE}


def test_inline_images_are_no_documents() -> None:
    content_id = prop(STRING8, 0x3712, b"logo@1\0")
    image = b"\x89PNG" + bytes(100)

    _, sink = kept(mail(tnef(file(b"logo.png", image, content_id), file(b"scan.png", image))))

    assert sink.files == {"scan.png": image}


def test_a_sender_whose_address_is_not_ascii() -> None:
    sender = props(
        prop(STRING, 0x0C1A, "Jörg Müller\0".encode("utf-16-le")),
        prop(STRING, 0x5D01, "jörg@müller.de\0".encode("utf-16-le")),
    )

    text, sink = kept(tnef(attribute(0x9003, sender), file(b"a.csv", TABLE)), "winmail.dat")

    assert "From: Jörg Müller <jörg@müller.de>" in text
    assert sink.files == {"a.csv": TABLE}


@pytest.mark.parametrize(
    ("page", "code_page"),
    [
        ("Кто там", 20866),
        ("<meta charset=koi8-r>Кто там", 0),
        ("<meta charset=big5>Кто там", 20866),
    ],
)
def test_html_is_in_its_own_code_page(page: str, code_page: int) -> None:
    html = prop(BINARY, HTML, f"<p>{page}</p>".encode("koi8-r"))
    internet = prop(LONG, 0x3FDE, struct.pack("<I", code_page))
    body = attribute(0x9003, props(html, internet))

    text, _ = kept(tnef(body, code_page=1251), "winmail.dat")

    assert text.strip() == "Кто там"


def test_html_without_declaration_is_in_the_code_page_of_windows() -> None:
    body = attribute(0x9003, props(prop(BINARY, HTML, "<p>Кто там</p>".encode("cp1251"))))

    assert kept(tnef(body, code_page=1251), "winmail.dat")[0].strip() == "Кто там"


def test_the_packed_body_is_read_beside_a_blank_text() -> None:
    text, _ = kept(mail(tnef(attribute(0x800C, b"Packed text\0")), body=" \r\n"))

    assert text.count("Packed text") == 1


def test_the_packed_body_is_left_out_before_another() -> None:
    data = mail(tnef(attribute(0x800C, b"Same text, packed\0")), is_first=True)

    text, _ = kept(data)

    assert "See the files." in text
    assert "packed" not in text


def test_winmail_dat_inside_one_another_is_read_to_a_limit() -> None:
    data = tnef(file(b"deepest.csv", TABLE))
    for level in range(40):
        data = tnef(file(b"%d.csv" % level, TABLE), file(b"winmail.dat", data))

    text, sink = kept(mail(data))

    assert "See the files." in text
    assert sorted(sink.files) == [f"{level}.csv" for level in range(36, 40)]
    assert sink.refused == {"winmail.dat": "archive_unsafe"}


def test_packed_messages_inside_one_another_are_shown_to_a_limit() -> None:
    data = tnef(attribute(0x800C, b"Text of the innermost\0"))
    for level in range(40):
        forwarded = file(b"", b"", prop(OBJECT, DATA, GUID + data))
        data = tnef(attribute(0x800C, b"Text %d.\0" % level), forwarded)

    document = extract_file(io.BytesIO(mail(data, body="")), name="a.eml")

    assert re.findall("Text .*", document.text) == [f"Text {level}." for level in range(39, 35, -1)]
    assert document.metadata["attachmentCount"] == 1
