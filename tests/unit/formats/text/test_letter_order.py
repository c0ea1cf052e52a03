"""Hebrew in visual order: text files, pages, mail; and text whose direction is overridden."""

# ruff: noqa: RUF001  (the letters of other scripts are the point)

import io

import pytest

from ingest.formats.common.letter_order import logical_text
from ingest.formats.registry import extract

# As read, and as displayed from left to right.
_LINES = (
    (
        "שלום עולם, היום 12.5% מהתושבים הגיעו ב-1998 (Windows 95 Pro) לירושלים.",
        ".םילשוריל (Windows 95 Pro) 1998-ב ועיגה םיבשותהמ 12.5% םויה ,םלוע םולש",
    ),
    ("הטלפון 02-1234567 או info@example.com בלבד", "דבלב info@example.com וא 02-1234567 ןופלטה"),
    ("מחיר: 5 $ [כולל מס]", "[סמ ללוכ] $ 5 :ריחמ"),
    ("בשנים 12 13 בלבד", "דבלב 13 12 םינשב"),
)
_LOGICAL = "\n".join(logical for logical, _ in _LINES)
_VISUAL = "\n".join(visual for _, visual in _LINES)


def read(data: bytes, name: str, declared: str | None = None) -> str:
    return extract(io.BytesIO(data), name=name, declared=declared).text.strip()


@pytest.mark.parametrize(("logical", "visual"), _LINES)
def test_words_turn_while_numbers_and_latin_keep_their_order(logical: str, visual: str) -> None:
    assert logical_text(visual) == logical


def test_in_text_from_left_to_right_only_the_passage_turns() -> None:
    text = "The word םלוע םולש (hello world) is Hebrew; 12 םימי are days."

    assert logical_text(text) == "The word שלום עולם (hello world) is Hebrew; 12 ימים are days."


def test_a_sentence_from_left_to_right_may_have_mostly_hebrew_words() -> None:
    before = "The rest of the text is in English.\n"

    assert logical_text(f"{before}See also: רפס תיב, p. 12; and הרות ירפס.") == (
        f"{before}See also: בית ספר, p. 12; and ספרי תורה."
    )
    assert logical_text(f"{before}לארשי was chosen.") == f"{before}ישראל was chosen."


def test_marks_of_quotes_and_ends_of_lines_stay() -> None:
    assert logical_text("> > םלוע םולש \r\n\r\nOK\n") == "> > שלום עולם \r\n\r\nOK\n"


@pytest.mark.parametrize(
    ("text", "charset", "encoding"),
    [
        (_VISUAL, "; charset=iso-8859-8", "iso8859-8"),
        (_VISUAL, "; charset=visual", "iso8859-8"),
        (_VISUAL, "", "cp1255"),
        # labelled wrongly, as most newer files
        (_LOGICAL, "; charset=iso-8859-8", "iso8859-8"),
        (_LOGICAL, "; charset=iso-8859-8-i", "cp1255"),
        (_LOGICAL, "; charset=windows-1255", "cp1255"),
        (_LOGICAL, "", "cp1255"),
        (_LOGICAL, "; charset=utf-8", "utf-8"),
    ],
)
def test_text_files_are_in_logical_order(text: str, charset: str, encoding: str) -> None:
    data = text.encode(encoding)

    assert read(data, "a.txt", f"text/plain{charset}") == _LOGICAL


@pytest.mark.parametrize("charset", ["iso-8859-8-i", "windows-1255", "utf-8"])
def test_a_charset_of_logical_order_is_believed(charset: str) -> None:
    codec = {"utf-8": "utf-8"}.get(charset, "cp1255")

    assert read(_VISUAL.encode(codec), "a.txt", f"text/plain; charset={charset}") == _VISUAL


def test_one_short_word_without_evidence_is_unchanged() -> None:
    assert read("תבש".encode("iso8859-8"), "a.txt", "text/plain; charset=iso-8859-8") == "תבש"


def page(body: str, title: str = "") -> str:
    markup = f"<html><head><meta charset=iso-8859-8><title>{title}</title></head><body>{body}"
    return read(markup.encode("iso8859-8"), "a.html")


def test_each_line_of_a_page_turns_with_its_elements() -> None:
    text = page(
        '<h1>םיטרפ</h1><p>.<b>םילשורי</b> ,<a href="http://a.b/">םולש</a><br>2001 תנשב <i>םויס</i>'
        "<ul><li>ןושאר<li>ינש</ul><pre>םיימש\nץראו</pre>"
        '<img alt="םיצע לש הנומת">',
        title="תמונות של אנשים",
    )

    assert text == (
        "# תמונות של אנשים\n\n# פרטים\n\n[שלום](http://a.b/), **ירושלים**.  \n*סיום* בשנת 2001\n\n"
        "- ראשון\n- שני\n\n```\nשמיים\nוארץ\n```\n\nתמונה של עצים"
    )


def test_a_logical_page_labelled_as_visual_is_unchanged() -> None:
    assert page("<p>שלום <b>עולם</b>, ירושלים.") == "שלום **עולם**, ירושלים."


@pytest.mark.parametrize("kind", ["plain", "html"])
def test_parts_of_messages_are_in_logical_order(kind: str) -> None:
    head = f"From: a@b.c\nSubject: x\nContent-Type: text/{kind}; charset=iso-8859-8\n\n"
    tag = "<p>" if kind == "html" else ""

    assert read(head.encode() + f"{tag}.םילשורי ,םולש".encode("iso8859-8"), "a.eml").endswith(
        "\n\nשלום, ירושלים."
    )


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<bdo dir=ltr>םלוע םולש</bdo> Latin", "שלום עולם Latin"),
        ("<bdo dir=LTR>(םלוע <b>םולש</b>)</bdo>", "(**שלום** עולם)"),
        ("<bdo dir=ltr>12 ملاعلاب ابحرم</bdo>", "مرحبا بالعالم 12"),
        ("<bdo dir=ltr>שלום עולם</bdo>", "שלום עולם"),  # whoever wrote it saw it reversed
        ("<bdo dir=rtl>שלום עולם</bdo>", "שלום עולם"),
        ("<bdo dir=rtl>This is an example</bdo>", "This is an example"),
        ("<bdo dir=rtl>moc.elpmaxe@ofni</bdo>", "info@example.com"),
        ('<span style="unicode-bidi: bidi-override; direction: rtl">ed.b@a</span>', "a@b.de"),
        ("<style>.m{unicode-bidi:bidi-override;direction:rtl}</style><p>to <span class=m>ed.b@a"
         "</span>", "to a@b.de"),
        ("<bdo>םולש</bdo>", "םולש"),
    ],
)  # fmt: skip
def test_overridden_directions_are_resolved(markup: str, expected: str) -> None:
    assert read(f"<meta charset=utf-8><p>{markup}".encode(), "a.html") == expected
