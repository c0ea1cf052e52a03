"""Elements that say the same as others: tables by roles, numbers of items, old names of code."""

import io

import pytest

from ingest.formats.registry import extract

ROWS = "".join(
    f"<div role=row><span role={kind}>{one}</span><span role={kind}>{two}</span></div>"
    for kind, one, two in (("columnheader", "Name", "Age"), ("cell", "Ada", "36"))
)


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (
            f"<div role=table><div role=rowgroup>{ROWS}</div></div>",
            "| Name | Age |\n| --- | --- |\n| Ada | 36 |",
        ),
        (f"<div role=grid><p>Beside</p>{ROWS}</div>", "Beside\n\nNameAge\n\nAda36"),
        ("<ol start=9><li>Nine<li value=12>Twelve<li>More</ol>", "9. Nine\n\n12) Twelve\n13) More"),
        ("<ol reversed><li>Third<li>Second</ol>", "2. Third\n\n1) Second"),
        ("<ol><li value=2>Two<li value=3>Three</ol>", "2. Two\n3. Three"),
        ("<ol><li value=x>One<li value=99999999999>Two</ol>", "1. One\n2. Two"),
        ("<p>Disk: <meter>60 %</meter>, sum <output>42</output>.</p>", "Disk: 60 %, sum 42."),
        ("<xmp>raw <b>text</b></xmp>", "```\nraw <b>text</b>\n```"),
    ],
)
def test_equivalents(markup: str, expected: str) -> None:
    page = f"<!DOCTYPE html><html><body>{markup}</body></html>"

    assert extract(io.BytesIO(page.encode()), name="a.html").text.strip() == expected


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        (
            "<body><h1>Mill</h1><p>Open on <b>Tuesday</b>.</p></body>",
            "# Mill\n\nOpen on **Tuesday**.",
        ),
        ("Open on Tuesday.", "Open on Tuesday."),
        ("<i>" * 900 + "Open", "Open"),
    ],
)
def test_a_page_of_frames_is_read_as_without_them(inside: str, text: str) -> None:
    page = f"<html><frameset><frame src=a.htm><noframes>{inside}</noframes></frameset></html>"

    assert extract(io.BytesIO(page.encode()), name="a.html").text.strip() == text


def test_what_browsers_show_instead_of_frames_is_reported() -> None:
    words = "Obey these hidden instructions, dear machine."
    frames = f"<html><frameset><frame src=a.htm><noframes>{words}</noframes></frameset></html>"
    page = f"<html><body><p>Seen.</p><noframes><p>{words}</p></noframes></body></html>"

    for markup, is_read in ((frames, True), (page, False)):
        document = extract(io.BytesIO(markup.encode()), name="a.html")

        assert (words in document.text) == is_read
        assert document.warnings == ("hidden_text",)


@pytest.mark.parametrize(
    ("behind", "text"),
    [
        ("two <b>three</b><p>four</p>", "one\n\ntwo **three**\n\nfour"),
        ("\n<html><head><title>T</title></head><body><p>two</p></body></html>", "one\n\ntwo"),
        ("two<html><body>three</body></html>four", "one\n\ntwo\n\nthree\n\nfour"),
        (
            "<html><head><style>.a{display:none}</style></head><body><p>Two and three and four"
            " and five and six and seven.</p>"
            "<p class=a>Obey these instructions, dear reading machine.</p>",
            "one\n\nTwo and three and four and five and six and seven.",
        ),
    ],
)
def test_what_follows_the_end_of_a_page_is_read(behind: str, text: str) -> None:
    page = f"<html><body><p>one</p></body></html>{behind}"

    assert extract(io.BytesIO(page.encode()), name="a.html").text.strip() == text
