"""What a page itself calls its content stays, whatever the names of its blocks are."""

import io

import pytest

from ingest.formats.registry import extract as extract_file
from tests.builders import make_files

LEAD = "Holpert es beim Aussitzen? Eine Reitlehrerin zeigt vier Übungen, die helfen."
ARTICLE = "".join(
    f"<p>Paragraph {number} tells at some length of ducks, which swim on ponds, and of geese, "
    "which walk beside them in the grass.</p>"
    for number in range(8)
)
LINKS = "".join(f"<li><a href='/{n}'>Another page, number {n}</a></li>" for n in range(8))
SHARE = "<a href='/f'>Share</a> <a href='/t'>Post</a> <a href='/m'>Mail</a>"
DESCRIBED = f'<meta name="description" content="{LEAD}">'


def read(body: str, *, head: str = "") -> str:
    page = make_files.html(body, title="Sitzschule", head=head)
    return extract_file(io.BytesIO(page), name="page.html").text


@pytest.mark.parametrize(
    "lead",
    [
        f"<header><nav>{LINKS}</nav><h1>Sitzschule</h1><p>{LEAD}</p>{SHARE}</header>",
        f"<div class='teaser'><p>{LEAD}</p><p>{SHARE}</p></div>",
        f"<div class='offcanvas-wrap'><div>{SHARE}</div><div class='abstract'>{LEAD}</div></div>",
    ],
)
@pytest.mark.parametrize(
    "head",
    [
        DESCRIBED,
        f'<meta property="og:description" content="{LEAD[:60]}&hellip;">',
        f'<meta name="twitter:description" content="  {LEAD.replace(" ", "  ")}">',
    ],
)
def test_the_summary_that_the_description_quotes_is_kept(head: str, lead: str) -> None:
    page = f"{lead}<article>{ARTICLE}</article>"

    assert LEAD in read(page, head=head)
    assert LEAD not in read(page)


@pytest.mark.parametrize(
    "block",
    [
        f"<footer><p>{LEAD}</p>{SHARE}</footer>",
        f"<aside class='related'><a href='/x'>{LEAD}</a> {SHARE}</aside>",
        f"<div class='cookie-consent'><p>{LEAD}</p>{SHARE}</div>",
        f"<div class='modal'><div><p>{LEAD}</p>{SHARE}</div></div>",
        f"<div class='newsletter promo'><p>{LEAD}</p>{SHARE}</div>",
    ],
)
def test_a_description_quoted_beside_the_article_protects_nothing(block: str) -> None:
    found = read(f"<article><h1>Ducks</h1>{ARTICLE}</article>{block}", head=DESCRIBED)

    assert "Paragraph 7 tells" in found
    assert LEAD not in found


@pytest.mark.parametrize("name", ["modal-open", "with-newsletter"])
def test_a_page_with_a_notice_keeps_its_summary(name: str) -> None:
    lead = f"<h1>Ducks</h1><div class='teaser'><p>{LEAD}</p><p>{SHARE}</p></div>"

    assert LEAD in read(
        f"<div class='{name}'>{lead}<article>{ARTICLE}</article></div>", head=DESCRIBED
    )


def test_the_navigation_beside_the_summary_is_left_out() -> None:
    found = read(
        f"<header><nav>{LINKS}</nav><p>{LEAD}</p></header><article>{ARTICLE}</article>",
        head=DESCRIBED,
    )

    assert LEAD in found
    assert "Another page" not in found


BIOGRAPHY = (
    "<div class='author-description'><p>The author has written about sound, rooms and recordings "
    "for a very long time, and lives by the sea with two dogs. She teaches at a school for radio "
    "makers, and her book on microphones is in its fourth edition, which came out in spring.</p>"
    "<p>She reads all letters, although it may take a while until she answers them, she says. Most "
    "of them ask about cables, some about the weather by the sea, and a few are about the dogs.</p>"
    "</div>"
)


@pytest.mark.parametrize(
    "mark",
    [
        "class='entry-content'",
        "itemprop='articleBody'",
        "class='post-content wide'",
        "class='ENTRY-CONTENT'",
    ],
)
def test_a_short_body_that_its_markup_names_is_kept(mark: str) -> None:
    body = f"<p>Today we talked with two guests at the camp about it.</p><p>{SHARE}</p>"

    assert "two guests" in read(
        f"<h1>Episode 39</h1><article><div {mark}>{body}</div></article>{BIOGRAPHY}"
    )
    assert "two guests" not in read(
        f"<h1>Episode 39</h1><article><div>{body}</div></article>{BIOGRAPHY}"
    )


def test_an_article_for_readers_without_scripts_is_read_beside_a_long_archive() -> None:
    archive = "".join(f"<li><a href='/{n}'>Archive of the month {n}</a></li>" for n in range(150))

    assert "Paragraph 7 tells" in read(
        f"<h1>Ducks</h1><noscript>{ARTICLE}</noscript><ul>{archive}</ul>"
    )


def test_a_demand_for_scripts_is_left_out() -> None:
    demand = (
        "<noscript><p>This page needs JavaScript. Please switch it on, then reload.</p></noscript>"
    )

    assert "JavaScript" not in read(f"<h1>Ducks</h1>{demand}{ARTICLE}")


@pytest.mark.parametrize("name", ["print-full", "d-print-none", "no-print", "row print:block"])
def test_classes_for_printers_name_no_print_button(name: str) -> None:
    recipe = f"<div class='{name}'><ul><li>for 12 pieces</li><li>easy</li></ul></div>"

    assert "for 12 pieces" in read(f"<h1>Cake</h1>{recipe}{ARTICLE}")


def test_running_text_beside_many_links_is_no_list_of_teasers() -> None:
    start = "".join(
        f"<p>Part {n} of the start tells what happened that night, and to whom it did.</p>"
        for n in range(4)
    )
    body = f"<section>{start}{SHARE}</section><section>{ARTICLE * 4}</section>"

    found = read(f"<main><h1>Retirement</h1>{body}</main>")

    assert "Part 3 of the start" in found


def test_a_short_message_of_a_forum_is_kept() -> None:
    def message(number: int, text: str) -> str:
        return (
            f"<div class='message'><div class='message-cell'><a href='/u{number}'>User {number}</a>"
            f" <a href='/p{number}'>#{number}</a> <a href='/d{number}'>Sep 18</a></div>"
            f"<div class='message-cell'><a href='/u{number}'>Author</a> <a href='/q'>Quote</a>"
            f" <a href='/r'>Report</a><div>{text}</div></div></div>"
        )

    answer = "I think that the second bug is still there, as I met it again this morning at nine."
    thread = message(1, ARTICLE * 2) + message(2, answer)

    assert "second bug" in read(f"<h1>Patch notes</h1>{thread}")


SECTION = "<div class=refsect1><h2>{}</h2><p>{}</p>{}</div>"
FLIGHT = "<p>Ducks fly in lines, and each of them follows the one in front of it.</p>" * 40
TERMS = "".join(
    f"<dl><dt><a href='/{at}'>f{at}()</a>"
    "<dd>Counts the ducks that are on it, and those in the reeds.</dl>"
    for at in range(9)
)


@pytest.mark.parametrize(
    ("section", "is_kept"),
    [
        (SECTION.format("Functions", "Makes a counter of ducks.", TERMS), True),
        (SECTION.format("<a href='#f'>¶</a>Functions", "Makes a counter of ducks.", TERMS), True),
        (SECTION.format("Related pages", "Makes a counter of ducks.", TERMS), False),
        (SECTION.format("<a href='/d'>Functions</a>", "Makes a counter of ducks.", TERMS), False),
        (SECTION.replace("refsect1", "rail").format("Functions", "Makes a counter.", TERMS), False),
    ],
)
def test_sections_of_one_kind_are_kept_together(section: str, is_kept: bool) -> None:
    first = SECTION.format("Flight", "How they fly.", FLIGHT)
    page = f"<html><head><title>Ducks</title></head><body>{first}{section}</body></html>"

    text = extract_file(io.BytesIO(page.encode()), name="a.html").text

    assert ("f7()" in text) is is_kept
