"""Encodings that a text declares: believed, where its bytes allow it."""

import pytest

from ingest.formats.encoding.charset_labels import codec
from ingest.formats.encoding.decode import decode

GERMAN = "Die schöne Frau trinkt Kaffee. Das war köstlich, für fünf Euro!"
RUSSIAN = "Это короткий текст для проверки определения кодировки."
CHINESE = "这是一个用于测试字符编码检测的简短中文段落。"


@pytest.mark.parametrize(
    ("data", "content_type"),
    [
        ("Łódź".encode("iso-8859-2"), "text/plain; charset=iso-8859-2"),
        (b'<meta charset="iso-8859-2">' + "Łódź".encode("iso-8859-2"), None),
        (
            b'<?xml version="1.0" encoding="iso-8859-2"?><a>' + "Łódź".encode("iso-8859-2"),
            "application/xml",
        ),
        (
            b'<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-2">'
            + "Łódź".encode("iso-8859-2"),
            None,
        ),
    ],
)
def test_a_declared_charset_is_believed(data: bytes, content_type: str | None) -> None:
    decoded, encoding = decode(data, declared=content_type)

    assert decoded.endswith("Łódź")
    assert encoding.name == "iso8859-2"


@pytest.mark.parametrize("label", ["utf-8", "utf-16", "nonsense", "base64", "unicode_escape", ""])
def test_a_wrong_or_dangerous_declaration_is_ignored(label: str) -> None:
    decoded, _ = decode(GERMAN.encode("cp1252"), declared=f"text/plain; charset={label}")

    assert decoded == GERMAN


def test_a_declared_gb2312_may_hold_newer_characters() -> None:
    decoded, encoding = decode("镕基".encode("gb18030"), declared="text/html;charset=gb2312")

    assert (decoded, encoding.name) == ("镕基", "gb18030")


def test_declared_latin1_is_not_believed_for_text_of_another_script() -> None:
    page = b'<meta charset="iso-8859-1">'
    hebrew = 2 * "ההסכם נחתם בין הצדדים ונכנס לתוקף ביום החתימה. "

    assert decode(page + hebrew.encode("cp1255"))[0].endswith(hebrew)
    assert decode(page + RUSSIAN.encode("cp1251"))[0].endswith(RUSSIAN)
    assert decode(page + GERMAN.encode("cp1252"))[0].endswith(GERMAN)


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf16_without_nul_needs_a_declaration(codec: str) -> None:
    assert decode(CHINESE.encode(codec), declared="text/plain; charset=UTF-16")[0] == CHINESE


@pytest.mark.parametrize(
    ("start", "name"),
    [
        (b"<!-- <meta charset=koi8-r> --><script>%s</script><meta charset='windows-1251'>"
         % (b" " * 9000), "cp1251"),
        (b'@charset "windows-1251";\n', "cp1251"),
        (b"#!/usr/bin/python\n# -*- coding: windows-1251 -*-\n", "cp1251"),
        (b"<html><meta content=x http-equiv=y charset = x-cp1251>", "cp1251"),
    ],
)  # fmt: skip
def test_a_declaration_is_found_in_odd_places(start: bytes, name: str) -> None:
    decoded, encoding = decode(start + b"\xdf\xde\xc0")

    assert decoded.endswith("ЯЮА")
    assert encoding.name == name


def test_charset_mentioned_in_prose_is_not_a_declaration() -> None:
    text = f"Write <meta charset=koi8-r> or coding: koi8-r. {RUSSIAN}"

    assert decode(text.encode("cp1251"))[0] == text


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("X-SJIS", "cp932"),
        ("win-1251", "cp1251"),
        ("windows-874", "cp874"),
        ("iso-8859-8-i", "cp1255"),
        ("ks_c_5601-1987", "cp949"),
        ("utf-16", None),
        ("rot13", None),
    ],
)
def test_charset_labels_follow_the_whatwg_standard(label: str, name: str | None) -> None:
    assert codec(label) == name
