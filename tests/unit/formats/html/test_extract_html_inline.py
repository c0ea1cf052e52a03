"""What readers see in a line: powers set by style sheets, readings, dates, notes, spoken text."""

import io

import pytest

from ingest.formats.registry import extract


def text_of(body: str, style: str = "") -> str:
    page = f"<!DOCTYPE html><meta charset=utf-8><style>{style}</style><body>{body}"
    return extract(io.BytesIO(page.encode()), name="a.html").text.strip()


_DOCS = (  # Google Docs
    ".c0{vertical-align:baseline;color:#000}.c3{vertical-align:super}.c4{vertical-align:sub}"
    "ol.x > li::before{vertical-align:super}"
)


@pytest.mark.parametrize(
    ("style", "markup", "expected"),
    [
        (_DOCS, "<span class=c0>2</span><span class='c0 c3'>10</span>", "2^10"),
        (_DOCS, "<span class=c0>10</span><span class='c3'>\u22123</span> m", "10^-3 m"),
        (_DOCS, "CO<span class='c4 c0'>2</span>, m<span class=c3>2</span>", "CO₂, m²"),
        (_DOCS, "a word<span class=c3><a href=#ftnt1>1</a></span> here", "a word[^1] here"),
        (_DOCS, "5<sup><span class=c3>3</span></sup>", "5^3"),
        ("p .e i{VERTICAL-ALIGN: Super !important}", "2<span class=e><i>10</i></span>", "2^10"),
        (".e{vertical-align:super} #n{vertical-align:baseline}",
         "page 2<span class=e id=n>10</span>", "page 210"),
        ("@media print{.e{vertical-align:super}}", "2<span class=e>10</span>", "210"),
        (".e:hover{vertical-align:super}", "2<span class=e>10</span>", "210"),
        (".e{vertical-align:super}", "2<span class=e style='vertical-align:baseline'>10</span>",
         "210"),
        (".badge{vertical-align:super}", "News <span class=badge>Beta</span>", "News Beta"),
    ],
)  # fmt: skip
def test_style_sheets_raise_and_lower(style: str, markup: str, expected: str) -> None:
    assert text_of(f"<p>{markup}", style).replace("*", "") == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp>字<rp>(</rp><rt>ji</rt><rp>)</rp></ruby>",
         "漢字(kanji)"),
        ("<ruby>東京<rt>とうきょう</rt></ruby>です", "東京(とうきょう)です"),
        ("<ruby><rb>北</rb> <rb>京</rb><rtc><rt>Bei</rt><rt>jing</rt></rtc></ruby>",
         "北京(Beijing)"),
        ("<ruby>HTML<rt>Hypertext Markup Language</rt></ruby> 5",
         "HTML(Hypertext Markup Language) 5"),
        ("<ruby>서울 시<rt>Seoul City</rt></ruby>", "서울 시(Seoul City)"),
        ("<ruby><a href=http://a.b/>東京</a><rt>とう</rt></ruby>", "[東京](http://a.b/)(とう)"),
        ("<ruby>空<rt></rt></ruby>", "空"),
    ],
)  # fmt: skip
def test_readings_stand_behind_the_whole_word(markup: str, expected: str) -> None:
    assert text_of(f"<p>{markup}") == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<time datetime=2024-05-03T10:00Z>3 days ago</time>", "3 days ago (2024-05-03)"),
        ("<time datetime=2024-05-03>May 3</time>, noon", "May 3 (2024-05-03), noon"),
        ("<time datetime='2024-05-03 10:00'>vor 2 Stunden</time>", "vor 2 Stunden (2024-05-03)"),
        ("<time datetime=2024-05-03>3 May 2024</time>", "3 May 2024"),
        ("<time datetime=2024-05-03>03.05.24</time>", "03.05.24"),
        ("<time datetime=PT5M>5 minutes</time>", "5 minutes"),
        ("<time datetime=2024-05>May</time>", "May"),
        ("At <time datetime=2024-05-03></time>noon", "At noon"),
    ],
)
def test_times_without_a_date_get_it(markup: str, expected: str) -> None:
    assert text_of(f"<p>{markup}") == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<abbr title='World Health Organization'>WHO</abbr>, the <abbr title="
         "'World Health Organization'>WHO</abbr>", "WHO (World Health Organization), the WHO"),
        ("<acronym title='as soon as possible'>ASAP</acronym>", "ASAP (as soon as possible)"),
        ("World Health Organization (<abbr title='World Health Organization'>WHO</abbr>)",
         "World Health Organization (WHO)"),
        ("<abbr title=2011-03-05T10:00>5 March 2011</abbr>", "5 March 2011"),
        ("<abbr title=kg>kg</abbr>", "kg"),
    ],
)  # fmt: skip
def test_abbreviations_are_expanded_once(markup: str, expected: str) -> None:
    assert text_of(f"<p>{markup}") == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("word<span class=footnote>See page 9.</span> goes on", "word (See page 9.) goes on"),
        ("word <span role=doc-footnote>See <b>it</b>.</span>", "word (See **it**.)"),
        ("word<label for=s class='margin-toggle sidenote-number'></label><input type=checkbox id=s"
         " class=margin-toggle><span class=sidenote>A note.</span> on", "word (A note.) on"),
        ("word<span class=footnote>[1]</span>", "word[1]"),
        ("<span class=footnote>A note alone.</span>", "A note alone."),
    ],
)  # fmt: skip
def test_notes_inside_a_sentence_are_set_apart(markup: str, expected: str) -> None:
    assert text_of(f"<p>{markup}") == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<span aria-hidden=true>4.5</span><span class=sr-only>4.5 out of 5 stars</span>",
         "4.5 out of 5 stars"),
        ("<span class=a-offscreen>$19.99</span><span aria-hidden=true>$<b>19</b><sup>99</sup>"
         "</span> now", "$19.99 now"),
        ("<span aria-hidden=true>12</span><span class=visually-hidden>comments</span>",
         "12 comments"),
        ("Price<span class=sr-only>from</span>12", "Price from 12"),
        ("<span aria-hidden=true>Seen</span> alone", "Seen alone"),
        ("<pre>a<span class=sr-only>b</span>c</pre>", "```\nabc\n```"),
    ],
)  # fmt: skip
def test_what_is_said_and_what_is_shown_do_not_run_together(markup: str, expected: str) -> None:
    assert text_of(f"<p>{markup}") == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("Price <del>100</del><ins>80</ins> euro, <s>old</s>", "Price ~~100~~80 euro, ~~old~~"),
        ("Press <kbd>Ctrl</kbd>+<kbd>C</kbd>", "Press `Ctrl`+`C`"),
        ("He said <q>yes</q>.", 'He said "yes".'),
        ("super<wbr>cali&shy;fragil&#8203;istic", "supercalifragilistic"),
        ("<img class=lazy data-src=x.jpg alt='Red fox'><noscript><img src=x.jpg alt='Red fox'>"
         "</noscript>", "Red fox"),
        ("a<template>No</template> b", "a b"),
    ],
)  # fmt: skip
def test_marks_of_editors_breaks_and_duplicates(markup: str, expected: str) -> None:
    assert text_of(f"<p>{markup}") == expected


def test_figures_and_closed_details_are_read() -> None:
    text = text_of(
        "<figure><img src=a.jpg alt='Chart of rain'><figcaption>Rain in 2020</figcaption></figure>"
        "<details><summary>More</summary><p>Hidden so far.</p></details>"
    )

    assert text == "Chart of rain\n\nRain in 2020\n\n**More**\n\nHidden so far."
