"""What an uploaded file is called: the same from every client, and harmless."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.upload import paths


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("a.txt", "a.txt"),
        ("docs/a.txt", "docs/a.txt"),
        ("docs\\sub\\a.txt", "docs/sub/a.txt"),
        ("/etc/passwd", "etc/passwd"),
        ("//server/share/a.txt", "server/share/a.txt"),
        ("\\\\server\\share\\a.txt", "server/share/a.txt"),
        ("C:\\Users\\me\\a.txt", "Users/me/a.txt"),
        ("c:/a.txt", "a.txt"),
        ("/C:/a.txt", "a.txt"),
        ("\\\\?\\C:\\long\\a.txt", "long/a.txt"),
        ("\\\\.\\C:\\a.txt", "a.txt"),
        ("C:/D:/a.txt", "a.txt"),
        ("x/../C:/a.txt", "a.txt"),
        ("x/C:/a.txt", "x/C:/a.txt"),
        ("?/a.txt", "?/a.txt"),
        ("../../etc/passwd", "etc/passwd"),
        ("a/../../b.txt", "b.txt"),
        ("a/./b//c.txt", "a/b/c.txt"),
        ("a/b/", "a/b"),
        ("...", "..."),
        ("..a/b..", "..a/b.."),
        (".hidden", ".hidden"),
        # a colon is no drive unless a folder follows
        ("a:b.txt", "a:b.txt"),
        ("C:report.txt", "C:report.txt"),
        ("12:30 notes.txt", "12:30 notes.txt"),
        # spaces and dots at the ends are part of the name
        (" a .txt ", " a .txt "),
        ("folder /a.", "folder /a."),
        # invisible and control characters
        ("a\0.txt", "a.txt"),
        ("a\r\nb\t.txt", "ab.txt"),
        ("invoice\u202efdp.exe", "invoicefdp.exe"),
        ("\u200fa\u200e\u2066b\u2069.txt", "ab.txt"),
        ("a\u200bb\ufeff\u00ad.txt", "ab.txt"),
        (".\u200b./.\u200b./etc/passwd", "etc/passwd"),
        ("a\ud800b.txt", "ab.txt"),
        # joiners belong to the spelling
        ("\u0645\u06cc\u200c\u062e.txt", "\u0645\u06cc\u200c\u062e.txt"),
        ("\U0001f468\u200d\U0001f469.txt", "\U0001f468\u200d\U0001f469.txt"),
        # two spellings of one name
        ("cafe\u0301.txt", "caf\u00e9.txt"),
        ("\u1100\u1161.txt", "\uac00.txt"),
        ("n" * 300 + ".txt", "n" * 300 + ".txt"),
        ("x" * 4096, "x" * 4096),
    ],
)
def test_file_name_maps_to_one_path(name: str, path: str) -> None:
    assert paths.normalise(name) == path


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "no file name"),
        ("/", "the path has no file name"),
        (".", "the path has no file name"),
        ("..", "the path has no file name"),
        ("../..", "the path has no file name"),
        ("a/..", "the path has no file name"),
        ("C:\\", "the path has no file name"),
        ("\u200b", "the path has no file name"),
        ("\0", "the path has no file name"),
        ("  ", "the path has no file name"),
        ("folder/ ", "the path has no file name"),
        ("x" * 4097, "longer than 4096"),
    ],
)
def test_file_name_without_a_valid_path_reports_why(name: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        paths.normalise(name)


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("naïve.txt".encode(), "naïve.txt"),
        (b"b\xfccher.txt", "b%FCcher.txt"),
        (b"\xb1\xe0\xba\xc5.csv", "%B1%E0%BA%C5.csv"),
        # a surrogate in UTF-8 is no UTF-8
        (b"a\xed\xa0\x80b", "a%ED%A0%80b"),
    ],
)
def test_undecodable_file_names_are_distinct(raw: bytes, name: str) -> None:
    assert paths.decode_filename(raw) == name


@given(st.text() | st.text(alphabet="aC:/\\.?\0 \u0301\u200b"))
def test_a_path_is_storable_relative_and_its_own_path(name: str) -> None:
    try:
        path = paths.normalise(name)
    except ValueError:
        return

    path.encode()
    assert "\0" not in path
    assert not path.startswith("/")
    assert ".." not in path.split("/")
    assert unicodedata.is_normalized("NFC", path)
    assert paths.normalise(path) == path
