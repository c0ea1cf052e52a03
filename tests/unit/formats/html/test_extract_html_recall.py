"""Nothing of a page is lost except boilerplate, whatever it repeats and whatever its classes."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.formats.html.fragment import whole_markdown
from ingest.formats.registry import extract as extract_file
from ingest.model import Document
from tests.builders import make_files

CLAUSE = (
    "The supplier delivers within ten working days after the order was confirmed in writing. Goods "
    "that arrive damaged are reported within three days, with a photograph of the packing."
)
ARTICLE = "".join(
    f"<p>Paragraph {number} tells at some length of ducks, which swim on ponds, and of geese, "
    "which walk beside them in the grass.</p>"
    for number in range(8)
)
LINKS = "".join(f"<li><a href='/{n}'>Another page, number {n}</a></li>" for n in range(8))


def extract(body: str, title: str = "A page") -> Document:
    return extract_file(io.BytesIO(make_files.html(body, title=title)), name="page.html")


def lines(body: str, title: str = "A page") -> list[str]:
    return [line for line in extract(body, title).text.splitlines() if line]


def test_repeated_clause_is_kept_under_each_heading() -> None:
    towns = ["Aalborg", "Ghent", "Porto"]
    clause = f"{CLAUSE} If the supplier is late, the buyer may withdraw from this part of it."
    body = "".join(f"<h2>Warehouse {town}</h2><p>{clause}</p>" for town in towns)

    found = lines(
        f"<h1>Terms for warehouses</h1>{body}<h2>Contact</h2><p>Questions about these terms are "
        "answered by the purchasing office on working days between nine and four.</p>",
        "Terms for warehouses",
    )

    assert found == [
        "# Terms for warehouses",
        *(line for town in towns for line in (f"## Warehouse {town}", clause)),
        "## Contact",
        "Questions about these terms are answered by the purchasing office on working days between "
        "nine and four.",
    ]


def test_every_headline_of_a_front_page_precedes_its_teaser() -> None:
    cards = [(f"Headline number {n}", f"In short, story {n} is about a town.") for n in range(6)]
    grid = "".join(
        f"<div class='card'><a href='/{n}'><h3>{headline}</h3></a><p>{teaser}</p></div>"
        for n, (headline, teaser) in enumerate(cards)
    )
    lead = (
        "<section class='lead'><h2>Storm</h2><p>Nobody was hurt, and all went home.</p></section>"
    )

    found = lines(
        f"<header><nav><a href='/'>Home</a></nav></header>{lead}<section>{grid}</section>"
    )

    assert found[1:3] == ["## Storm", "Nobody was hurt, and all went home."]
    assert found[3:] == [
        line
        for n, (headline, teaser) in enumerate(cards)
        for line in (f"### [{headline}](/{n})", teaser)
    ]


@pytest.mark.parametrize("around", ["main", "div"])
def test_a_list_of_goods_is_complete_and_its_title_stands_once(around: str) -> None:
    goods = "".join(
        f"<div class='card'><a href='/p/{n}'><h3>Drill {n}</h3></a><p>EUR {n}9.00</p>"
        f"<p>In stock: {n}</p><p>SKU 100{n}</p></div>"
        for n in range(1, 7)
    )
    body = f"<{around}><h1>Drills</h1><div>{goods}</div><section>{ARTICLE}</section></{around}>"

    found = lines(f"{body}<footer>Imprint</footer>", "Shop: drills")

    assert [line for line in found if line.startswith("# ")] == ["# Drills"]
    for n in range(1, 7):
        start = found.index(f"### [Drill {n}](/p/{n})")
        assert found[start + 1 : start + 4] == [f"EUR {n}9.00", f"In stock: {n}", f"SKU 100{n}"]
    assert "Imprint" not in found


@pytest.mark.parametrize(
    "word", ["PDF", "Google", "E-Mail", "Print", "Facebook", "Share", "Menu", "Advertisement"]
)
def test_single_word_cells_items_and_headings_are_kept(word: str) -> None:
    body = (
        f"<table><tr><th>Format<th>By<tr><td>{word}<td>Ada<tr><td>CSV<td>{word}</table>"
        f"<ul><li>{word}<li>Phone</ul><h2>{word}</h2><p>{CLAUSE}</p>"
    )

    found = lines(f"<article><h1>Formats</h1>{ARTICLE}{body}</article>")

    assert f"| {word} | Ada |" in found
    assert f"| CSV | {word} |" in found
    assert f"- {word}" in found
    assert f"## {word}" in found


def test_comments_are_kept_and_the_form_for_another_is_not() -> None:
    comments = "".join(f"<li><p>I saw {n} geese there.</p><a href='#r'>Reply</a>" for n in range(9))
    form = "<form><label>Your comment</label><textarea></textarea></form>"

    text = extract(
        f"<article>{ARTICLE}</article><section id='comments'><ol>{comments}</ol>{form}</section>"
    ).text

    assert [n for n in range(9) if f"I saw {n} geese there." not in text] == []
    assert "Your comment" not in text


@pytest.mark.parametrize(
    "boilerplate",
    [
        f"<nav><ul>{LINKS}</ul></nav>",
        f"<div role='navigation'><ul>{LINKS}</ul></div>",
        f"<div class='main-menu'><ul>{LINKS}</ul></div>",
        f"<ul class='breadcrumbs'>{LINKS}</ul>",
        f"<div class='shareButtons'><ul>{LINKS}</ul></div>",
        f"<aside><h3>Elsewhere</h3><ul>{LINKS}</ul></aside>",
        f"<div id='left-sidebar'><ul>{LINKS}</ul></div>",
        f"<div><h3>Related articles</h3><ul>{LINKS}</ul></div>",
        f"<div><ul>{LINKS}</ul></div>",
        f"<footer><p>Another page of us, and our address.</p><ul>{LINKS}</ul></footer>",
        "<div id='cookie-banner'><p>Another page uses cookies, and so do we.</p>"
        "<button>Accept</button></div>",
        "<form class='newsletter'><p>Another page in your mail?</p><input type='email'></form>",
        "<span role='navigation'>Another page</span>",
        "<span class='breadcrumb'>Another page</span>",
        "<span class='next prev'>Another page</span>",
        "<span class='copyright'>Another page</span>",
        "<span class='lightbox'>Another page</span>",
        "<span class='optin'>Another page <input type='email'></span>",
        "<span class='cli'>Another page has cookies. <button>Accept</button></span>",
        f"<span class='sidebar'>{LINKS.replace('li>', 'b>')}</span>",
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_boilerplate_around_an_article_is_left_out_and_counted(
    boilerplate: str, is_first: bool
) -> None:
    article = f"<div class='text'><h1>Ducks</h1>{ARTICLE}</div>"

    document = extract(boilerplate + article if is_first else article + boilerplate)

    assert "Another page" not in document.text
    assert "Paragraph 7 tells" in document.text
    assert document.metadata["leftOut"]["bytes"] > 0
    assert 0 < document.metadata["leftOut"]["share"] < 1
    assert document.warnings == ()


@pytest.mark.parametrize(
    "content",
    [
        f"<section id='navigation'><h2>Navigation</h2><p>{CLAUSE}</p></section>",
        f"<section id='cookies'><h2>Cookies</h2><p>{CLAUSE}</p></section>",
        f"<section class='related-work'><h2>Related work</h2><p>{CLAUSE}</p></section>",
        f"<aside><p>{CLAUSE}</p></aside>",
        f"<div class='sidebar'><p>{CLAUSE}</p></div>",
        f"<header><h1>Ducks</h1><p>{CLAUSE}</p></header>",
        f"<form><p>{CLAUSE}</p></form>",
        f"<div class='widget'><p>{CLAUSE}</p></div>",
        f"<p class='teaser'>{CLAUSE}</p>",
        f"<h3><button aria-expanded='false'>{CLAUSE}</button></h3>",
        f"<details class='menu'><summary>More</summary><p>{CLAUSE}</p></details>",
    ],
)
def test_running_text_is_kept_whatever_its_class_name(content: str) -> None:
    assert CLAUSE in extract(f"<div>{ARTICLE}{content}{ARTICLE}</div>").text


def test_unclosed_tag_does_not_remove_the_page() -> None:
    for tag in ("nav", "svg", "form", "header", "footer", "aside"):
        assert "Paragraph 7 tells" in extract(f"<{tag}><h1>Ducks</h1>{ARTICLE}").text


def test_noscript_text_is_read() -> None:
    assert "Paragraph 7 tells" in extract(f"<p>Loading</p><noscript>{ARTICLE}</noscript>").text


def test_a_page_of_links_only_is_kept_with_a_warning() -> None:
    document = extract(f"<nav><ul>{LINKS}</ul></nav>")

    assert document.text.count("Another page") == 8
    assert document.warnings == ("main_content_unsure",)


def test_uncertain_furniture_is_kept_with_a_warning() -> None:
    cards = "".join(
        f"<div><a href='/{n}'>Read the story of number {n}</a><p>Story {n} is about a town that "
        "lies far from here, on the sea.</p></div>"
        for n in range(7)
    )

    document = extract(f"<div><h1>Ducks</h1>{ARTICLE[:500]}</div><div>{cards}</div>")

    assert document.text.count("lies far from here") == 7
    assert document.warnings == ("main_content_unsure",)


def test_a_link_without_words_does_not_show_its_address() -> None:
    assert "example.org" not in extract("<p>Text <a href='//example.org'><img src=a></a></p>").text


WORDS = st.text("abcdefghij", min_size=1, max_size=12)
SENTENCE = st.lists(WORDS, min_size=1, max_size=30).map(lambda words: " ".join(words) + ".")
BLOCK = st.one_of(
    SENTENCE.map(lambda text: (text, f"<p>{text}</p>")),
    WORDS.map(lambda text: (text, f"<h2>{text}</h2>")),
    st.lists(WORDS, min_size=1, max_size=5).map(
        lambda items: (
            "\n".join(items),
            f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>",
        )
    ),
    st.lists(st.tuples(WORDS, WORDS), min_size=2, max_size=5).map(
        lambda rows: (
            "\n".join(f"{a} | {b}" for a, b in rows),
            f"<table>{''.join(f'<tr><td>{a}</td><td>{b}</td></tr>' for a, b in rows)}</table>",
        )
    ),
)


@given(st.lists(BLOCK, min_size=1, max_size=15), st.sampled_from(["article", "main", "div"]))
@settings(max_examples=150)
def test_each_block_is_extracted_as_often_as_it_occurs(
    blocks: list[tuple[str, str]], around: str
) -> None:
    blocks = blocks + blocks
    page = f"<nav>{LINKS}</nav><{around}>{''.join(markup for _, markup in blocks)}</{around}>"

    text = extract(page, title="0").text

    found = [line.strip("#-| ") for line in text.splitlines()[1:]]
    wanted = [line for block, _ in blocks for line in block.split("\n")]
    assert [line for line in found if line] == wanted


@pytest.mark.parametrize(
    "markup",
    [
        "<div class='sidebar'>" * 700 + "<p>word <a href=/x>l</a></p>" * 5000,
        "<main>" * 700 + "<p>word <a href=/x>l</a></p>" * 5000,
        "<div class='cookie'>" * 700 + "<p>word</p>" * 5000,
        "<a href=/x><div>" * 300 + "<p>word</p>" * 5000,
        "<nav>" * 700 + "<p>word</p>" * 5000,
    ],
)
def test_hostile_nesting_is_read(markup: str) -> None:
    assert "Paragraph 7 tells" in extract(f"<div>{ARTICLE}</div>{markup}").text


@pytest.mark.parametrize("tag", ["form", "nav", "header", "footer", "aside"])
def test_mail_html_is_read_completely(tag: str) -> None:
    markup = f"<html><body><{tag}><h1>Ducks</h1><p>{CLAUSE}</p></{tag}></body></html>"

    assert whole_markdown(markup) == (f"# Ducks\n\n{CLAUSE}\n", False)
