"""Numbers of items and headings in RTF, which its reader does not know."""

import io

import pytest

from ingest.formats.office.rtf.labels import mark_labels
from ingest.formats.registry import extract


def text(body: str) -> str:
    data = b"{\\rtf1\\ansi\\ansicpg1252 " + body.encode("ascii") + b"}"
    return extract(io.BytesIO(data), name="a.rtf").text


def label(number: str, group: str = "listtext") -> str:
    formats = r"\pard\plain\ltrpar \rtlch\fcs1 \af0 \b\hich\af31506\dbch\loch\f3 "
    return rf"{{\{group}{formats}{number}\tab}}"


@pytest.mark.parametrize(
    ("number", "item"),
    [("2.", "2. Pay"), ("1.1", "- 1.1 Pay"), ("(a)", "- (a) Pay"), (r"\u1078?)", "- ж) Pay"),
     (r"\'a7 3", "- § 3 Pay"), ("IV.", "- IV. Pay")],
)  # fmt: skip
def test_items_of_rtf_keep_their_numbers(number: str, item: str) -> None:
    assert text(rf"\pard {label(number)}\ilvl0\ls1 Pay\par") == item


def test_numbers_of_rtf_stay_beside_bullets_of_symbol_fonts() -> None:
    items = (
        rf"\pard {label('1.')}\ilvl0\ls1 One\par\pard {label('a)')}\ilvl1\ls1 Inner\par"
        rf"\pard {label('o')}\ilvl0\ls2 Dot\par\pard " + label(r"\'b7") + r"\ilvl0\ls2 Dot\par"
    )

    assert text(items) == "1. One\n   - a) Inner\n\n- Dot\n- Dot"


@pytest.mark.parametrize(
    ("before", "first", "read"),
    [
        ("", "(a)", "   - (a) two\n   - (b) three"),
        ("", r"\'b7", "   - two\n   - (b) three"),
        (r"\ilvl0\ls1 Dot\par", "(a)", "- Dot\n   - (a) two\n   - (b) three"),
    ],
)
def test_inner_items_of_rtf_without_an_outer_one_are_alike(
    before: str, first: str, read: str
) -> None:
    before = before and rf"\pard {label('o')}{before}"
    items = rf"\pard {label(first)}\ilvl1\ls1 two\par\pard {label('(b)')}\ilvl1\ls1 three\par"

    assert text(rf"\pard Start\par{before}{items}") == f"Start\n\n{read}"


@pytest.mark.parametrize("title", ["Scope", r"{\b Scope}"])
def test_headings_of_rtf_keep_their_numbers(title: str) -> None:
    heading = rf"\pard\outlinelevel1{label('1.2')}{title}\par\pard\plain Text\par"

    assert text(heading) == "## 1.2 Scope\n\nText"


@pytest.mark.parametrize(
    "paragraph",
    [
        r"{0}\pard\plain \ltrpar\s1\ql\ls1\outlinelevel1\rin0 {{\b0 Scope\par}}",
        r"\pard\plain \s7\sb240{0}\ilvl1\ls2 \ql\ltrpar{{\loch Scope}}\par",
        r"\pard\plain \s8\sb240{0}\ilvl1\ls2 \ql{{Scope}}\par",
    ],
    ids=["word", "libreoffice", "by name"],
)
def test_numbered_headings_of_rtf_are_no_items(paragraph: str) -> None:
    styles = r"{\stylesheet{\s7\sb0\outlinelevel1 Other;}{\s8 heading 2;}{\s9 Body;}}"

    assert (
        text(styles + r"\pard\s9 Text\par" + paragraph.format(label("1.2")) + r"\pard\s9 More\par")
        == "Text\n\n## 1.2 Scope\n\nMore"
    )


def test_numbers_of_rtf_of_word_95_are_read() -> None:
    body = label("1.", "pntext") + r"{\*\pn\pnlvlbody\pndec{\pntxta .}}Read\par"

    assert text(r"\pard " + body) == "1. Read"


def test_long_numbers_of_rtf_are_left_to_its_reader() -> None:
    long = r"{\listtext " + r"{\b x}" * 500 + r"\tab}Long {\b text}"
    data = rf"{{\rtf1 \pard {long}\par\pard {label('1.')}Next\par}}".encode()

    marked = mark_labels(data)

    assert long.encode() in marked
    assert marked.count(b"{") == marked.count(b"}")


@pytest.mark.parametrize(
    ("bullet", "read"), [("1.", "1. One\n\n2. Two"), (r"\'b7", "- One\n\n- Two")]
)
def test_the_first_item_keeps_its_mark_where_word_ends_the_group_before_it(
    bullet: str, read: str
) -> None:
    second = bullet.replace("1", "2")
    body = (
        rf"{{Before\par {{\listtext\pard\plain\f2 {bullet}\tab}}}}"
        r"\pard\plain \ql\fi-360\li720\ls2 {\f1 One"
        rf"\par {{\listtext\pard\plain\f2 {second}\tab}}Two\par }}\pard After\par"
    )

    assert text(body) == f"Before\n\n{read}\n\nAfter"
