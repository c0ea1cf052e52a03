"""Text formats, where bytes prove little: which signs are sure, and who decides the rest."""

import io
import json

import pytest

from ingest.errors import Permanent
from ingest.formats import media_types as types
from ingest.formats.detect.sniff import sniff

XML = b"<?xml version='1.0'?>"
XHTML = b"http://www.w3.org/1999/xhtml"
TABLE = b"a,b,c\n" * 6
MAIL = b"From: a@b.c\nTo: d@e.f\nSubject: x\n"
SAVED = (
    b"From: <Saved by Blink>\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary=x\n\n--x"
)
ENVELOPE = b"From a@b.c Fri Nov 28 09:00:00 2025\n"


def kind(data: bytes, name: str | None = None, declared: str | None = None) -> str:
    return sniff(io.BytesIO(data), name=name, declared=declared).media_type


DOCBOOK = (
    b'<!DOCTYPE chapter PUBLIC "-//OASIS//DTD DocBook XML V4.1.2//EN" "docbookx.dtd">\n'
    b"<chapter><title>Ropes</title><para>Coil them.</para><table><title>Knots</title></table>"
)


@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [
        (b"\xef\xbb\xbf\r\n\r\n<!-- x --><!doctype HTML><p>Hi", "a.txt", types.HTML),
        (b"<?xml-stylesheet href='a'?><!-- --><html>", "a.csv", types.HTML),
        (b"<head><title>x</title></head>", "a.txt", types.HTML),
        (XML + b"<div xmlns='" + XHTML + b"'>x</div>", "a.xml", types.HTML),
        (b"Warning: x in y\n<!DOCTYPE html><html>", None, types.HTML),
        (XML + b"<p>a fragment</p>", "a.html", types.HTML),
        (XML + b"<rss version='2.0'>", "feed.html", types.XML),
        (b"<rss version='2.0'><channel>", None, types.XML),
        (b"<!DOCTYPE svg [<!ENTITY a 'b'>]><svg>", "a.txt", types.XML),
        (DOCBOOK, "a.docbook", types.XML),
        (b"<!-- x -->\n" + DOCBOOK, None, types.XML),
        (b"<svg></svg>\n\n# Read me", "a.md", types.MARKDOWN),
        (b"<article><p>x</p></article>", "a.html", types.HTML),
        (b'{"a": [1, 2]}\n', "a.txt", types.JSON),
        (b'\n[{"a": 1}]', "a.md", types.JSON),
        (b'{"a": 1}\n{"a": 2}\n', "a.log", types.JSON_LINES),
        (b'{"a": 1}\n{"a": 2}\n', "a.json", types.JSON),
        (b'{"cells": [], "nbformat": 4}', None, types.NOTEBOOK),
        (b'{"a": [1, 2', "a.txt", types.TEXT),
        (b"[1] A reference.\n[2] Another.", "a.txt", types.TEXT),
        (b"{}", "a.txt", types.TEXT),
        (b'"quoted"', None, types.TEXT),
        (TABLE, "a.txt", types.CSV),
        (b"One, two, three.\n" * 6, "a.txt", types.TEXT),
        (b"a,b,c\n1,2,3\n4,5,6\n", "a.txt", types.TEXT),
        (b'a;b\n"x;y";2\n"p\nq";3\nz;4\n', None, types.CSV),
        (b"a\tb\n1\t2\n3\t4\n5\t6\n", None, types.CSV),
        (TABLE, "a.md", types.MARKDOWN),
        (b"# a\n- b\n" + TABLE, "Makefile", types.TEXT),
        (b"<!DOCTYPE html><?php echo 1 ?>", "page.php", types.TEXT),
        (b'{"a": 1}', "settings.py", types.TEXT),
        (rb"  {\rtf1 x}", "a.txt", types.RTF),
        (b"\n\nhello", "a.eml", types.EMAIL),
        (MAIL + b"\nx", "memo.txt", types.TEXT),
        (MAIL + b"Received: by x\n\nx", "a.txt", types.EMAIL),
        (b"X-POP3-Rcpt: x\n" + MAIL + b"Received: by x\n\nx", "a.txt", types.EMAIL),
        (MAIL + b"\nx", "a.msg", types.EMAIL),
        (b"Content-Type: text/plain\n\nx", "a.msg", types.EMAIL),
        (ENVELOPE + MAIL + b"\nx", "a.msg", types.EMAIL),
        (ENVELOPE + MAIL + b"\nx", None, types.MBOX),
        (ENVELOPE + b"\n" + MAIL, "a.txt", types.MBOX),
        (ENVELOPE + MAIL + b"\nx", "a.eml", types.EMAIL),
        (ENVELOPE + MAIL + b"\nx\n\n" + ENVELOPE + MAIL, "a.eml", types.MBOX),
        (b"From here on it is prose, 12:30 or not.\n", None, types.TEXT),
        (SAVED, "page.doc", types.MHTML),
        (SAVED, "page.html", types.MHTML),
        (b"To: a@b.c\nReceived: x\nSubject: y\n" + SAVED[23:], None, types.EMAIL),
    ],
)  # fmt: skip
def test_sure_signs_win_and_names_decide_the_rest(
    data: bytes, name: str | None, expected: str
) -> None:
    assert kind(data, name) == expected


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        (b"<pkg:package xmlns:pkg='http://schemas.microsoft.com/office/2006/xmlPackage'>",
         types.FLAT_OPC),
        (b"<w:d xmlns:w='http://schemas.microsoft.com/office/word/2003/wordml'>", types.WORD_XML),
        (b'<office:document xmlns:office="x" office:mimetype='
         b'"application/vnd.oasis.opendocument.text">', types.FODT),
    ],
)  # fmt: skip
def test_flat_office_xml_is_distinguished_from_xml(inside: bytes, expected: str) -> None:
    assert kind(XML + b"\n<?mso-application progid='x'?>\n" + inside, "a.xml") == expected


def test_json_longer_than_the_head_is_json_where_it_was_cut() -> None:
    data = json.dumps([{"name": "x" * 50, "n": n} for n in range(3000)]).encode()

    assert kind(data, "a.txt") == types.JSON
    assert kind(data.replace(b'"n": 5,', b'"n" 5,').replace(b'"n": 5}', b'"n" 5}')) == types.TEXT


@pytest.mark.parametrize("data", [b"[" * 60_000, b"[" + b"9" * 60_000])
def test_invalid_json_is_detected_as_text(data: bytes) -> None:
    assert kind(data, "a.txt") == types.TEXT


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ("text/html; charset=iso-8859-2", types.HTML),
        ("APPLICATION/XHTML+XML", types.HTML),
        ("application/ld+json", types.JSON),
        ("application/rss+xml;charset=x", types.XML),
        ("text/x-csv", types.CSV),
        ("text/plain", types.TEXT),
        ("application/x-unheard-of", types.TEXT),
        ("application/pdf", types.TEXT),
        (";;", types.TEXT),
    ],
)
def test_the_declared_type_counts_last_and_without_its_parameters(
    declared: str, expected: str
) -> None:
    assert kind(b"plain words", None, declared) == expected
    assert kind(b"plain words", "a.md", declared) == types.MARKDOWN
    assert kind(b"plain words", "a.eml", declared) == types.EMAIL


def test_comments_line_by_line_are_no_headings_of_markdown() -> None:
    items = b"rope (1.2) unstable\n\n  * New knot.\n  * Fix a leak.\n\n"

    assert kind(items + b"# Older entries are gone.\n# See the site.\n", "changelog") == types.TEXT
    assert kind(b"# Changes\n\n" + items, "changelog") == types.MARKDOWN


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("_sources/page.md.txt", types.MARKDOWN),
        ("page.rst.txt", types.TEXT),
        ("smith.j.r.txt", types.TEXT),
        ("readme.pl.txt", types.TEXT),
        ("report.pdf.txt", types.TEXT),
        ("page.html.txt", types.TEXT),
    ],
)
def test_sources_of_sphinx_are_what_they_are_named_before_txt(name: str, expected: str) -> None:
    assert kind(b"Coil them. Then rest.\n", name) == expected


def test_utf16_text_is_detected_by_content() -> None:
    assert kind("<!DOCTYPE html><p>x".encode("utf-16-le"), "a.txt") == types.HTML
    assert kind(("a;b;c\r\n" * 4).encode("utf-16")) == types.CSV


@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [
        (b"digraph g {\n  a -> b;\n}\n", "a.dot", types.TEXT),
        (b"Read this first. It tells what is new.\n", "readme.doc", types.TEXT),
        (b"<table><tr><td>Name</td><td>Age</td></tr></table>", "export.xls", types.HTML),
        (b"<meta charset=utf-8><style>td{}</style><table><tr><td>a</table>", "a.xls", types.HTML),
        (b"Name,Age\nAda,36\n", "export.xls", types.CSV),
        (b"Name\tAge\nAda\t36\n", "export.xlsx", types.CSV),
        (b"A list of things\n", "export.xls", types.TEXT),
    ],
)
def test_text_under_the_name_of_office_files_is_text(data: bytes, name: str, expected: str) -> None:
    found = sniff(io.BytesIO(data), name=name)

    assert found.media_type == expected
    assert found.mismatch


@pytest.mark.parametrize("name", ["a.pdf", "a.docx", "a.pptx", "a.png", "a.msg"])
def test_text_under_the_name_of_other_binary_files_is_corrupt(name: str) -> None:
    with pytest.raises(Permanent) as raised:
        sniff(io.BytesIO(b"404 Not Found: nothing is here.\n"), name=name)

    assert raised.value.code == "corrupt"
