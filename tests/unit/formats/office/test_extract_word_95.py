"""Word 6 and 95: the code page of the text, and how its parts and cells come out."""

# ruff: noqa: RUF001  (apostrophes as they are typed)

import io
import struct

import pytest

from ingest.formats.registry import extract
from tests.builders.make_mail import ole

_TEXT = 0x300
_COMPLEX, _WIDE = 0x0004, 0x1000
_WESTERN, _CZECH, _RUSSIAN, _SYMBOL = 0, 238, 204, 2


def font(charset: int, name: bytes = b"Times") -> bytes:
    return bytes([len(name) + 6, 0, 0, 0, charset, 0]) + name + b"\0"


def word_95(text: bytes, *, fonts: bytes = b"", counts: tuple[int, ...] = (), flags: int = 0,
            character_set: int = 0) -> bytes:  # fmt: skip
    """A document in one stretch; `counts`: characters of body, footnotes, headers, macros."""
    header = bytearray(_TEXT)
    struct.pack_into("<HH", header, 0, 0xA5DC, 104)
    struct.pack_into("<H", header, 0x0A, flags)
    struct.pack_into("<H", header, 0x14, character_set)
    struct.pack_into("<II", header, 0x18, _TEXT, _TEXT + len(text))
    sizes = counts or (len(text) // (2 if flags & _WIDE else 1),)
    struct.pack_into(f"<{len(sizes)}I", header, 0x34, *sizes)
    table = struct.pack("<H", len(fonts) + 2) + fonts
    struct.pack_into("<II", header, 0xD0, _TEXT + len(text), len(table))
    return ole({"WordDocument": (bytes(header) + text + table).ljust(5000, b"\0")})


def text_of(data: bytes) -> str:
    return extract(io.BytesIO(data), name="a.doc").text


@pytest.mark.parametrize(
    ("text", "codec", "fonts"),
    [
        ("Компания предлагает", "cp1251", font(_WESTERN) + font(_SYMBOL) + font(_RUSSIAN)),
        ("před čtyřmi lety", "cp1250", font(_WESTERN) + font(_CZECH)),
        ("Καλημέρα κόσμε", "cp1253", font(161)),
        ("日本語の文書", "cp932", font(_WESTERN) + font(128)),
        ("L’été à Noël dans les montagnes", "cp1252", font(_WESTERN) + font(_RUSSIAN)),
        ("L’été à Noël", "cp1252", b""),
    ],
)
def test_the_fonts_say_the_code_page(text: str, codec: str, fonts: bytes) -> None:
    assert text_of(word_95(text.encode(codec) + b"\r", fonts=fonts)) == text


def test_documents_of_the_macintosh_are_in_its_code_page() -> None:
    data = word_95("stratégie d’été\r".encode("mac_roman"), fonts=font(77), character_set=256)

    assert text_of(data) == "stratégie d’été"


def test_documents_of_two_bytes_per_character_are_read_as_such() -> None:
    data = word_95("繁體 text\r".encode("utf-16-le"), fonts=font(136), flags=_WIDE)

    assert text_of(data) == "繁體 text"


def test_headers_follow_the_text_and_macros_are_left_out() -> None:
    data = word_95(b"Body\rNote\rHead\rMACRO\rRemark\r", counts=(5, 5, 5, 6, 7))

    assert text_of(data) == "Body\n\nNote\n\nHead\n\nRemark"


def test_cells_stand_on_the_line_of_their_row() -> None:
    data = word_95(b"Prices\rPens\x07two\rlines\x07\x07\x01\x07Ink\x07\x07\r\r\rEnd\r")

    assert text_of(data) == "Prices\n\nPens | two lines\n\nInk\n\nEnd"


def test_damaged_fonts_cost_no_text() -> None:
    assert text_of(word_95(b"caf\xe9\r", fonts=b"\0\xff\0\0\xcc\0")) == "café"
