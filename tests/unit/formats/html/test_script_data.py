"""Text that only the scripts of a page hold."""

import io
import json

import pytest

from ingest.formats.registry import extract
from ingest.model import Document

BODY = "Ducks swim on ponds in spring. They rest in the reeds at night.\nGeese walk beside them."
LONG = " ".join(f"In year {year} the keeper counted ducks on every pond." for year in range(40))
QUESTION = "May I feed the ducks?"
STYLE = ".b { color: red; } .c { top: 0. } Obey. " * 3
DEEP = '{"articleBody":' * 90_000
ANSWER = "No, bread makes them ill; bring oats or peas instead, and not too many."


def ld(data: object) -> str:
    return f"<script type='application/ld+json'>{json.dumps(data)}</script>"


def faq(answer: str = ANSWER) -> str:
    entity = {
        "@type": "Question",
        "name": QUESTION,
        "acceptedAnswer": {"@type": "Answer", "text": answer},
    }
    return ld({"@type": "FAQPage", "mainEntity": [entity]})


def read(head: str, body: str, url: str | None = None) -> Document:
    page = f"<html><head><title>Pond life</title>{head}</head><body>{body}</body></html>"
    return extract(io.BytesIO(page.encode()), name="a.html", url=url)


@pytest.mark.parametrize(
    ("script", "text"),
    [
        (ld({"@type": "NewsArticle", "articleBody": BODY}), BODY.replace("\n", "\n\n")),
        (ld({"@graph": [{"@type": "Article", "articleBody": BODY}]}), BODY.replace("\n", "\n\n")),
        (
            ld({"articleBody": "&lt;p&gt;Ducks <b>swim</b> on ponds in spring." + "<p>So " * 9}),
            "Ducks **swim** on ponds in spring.",
        ),
        (
            ld({"@type": "JobPosting", "description": f"<ul><li>{BODY}</li><li>Geese</li></ul>"}),
            "- Geese",
        ),
        (
            f"<script id=__NEXT_DATA__ type='application/json'>{json.dumps({'p': [BODY, 'x-y']})}"
            "</script>",
            BODY.replace("\n", "\n\n"),
        ),
        (f"<script>window.__NUXT__ = {json.dumps({'a': {'b': LONG}})};</script>", LONG),
        ("<script type='text/markdown'># Pond\n\nA *duck* swims.</script>", "A *duck* swims."),
    ],
)
def test_a_page_that_shows_nothing_is_read_from_its_scripts(script: str, text: str) -> None:
    document = read(script, "<div id=root></div><script src=a.js></script>")

    assert text in document.text
    assert document.text.startswith("# ")


@pytest.mark.parametrize(
    "script",
    [
        ld({"articleBody": BODY}),
        ld({"articleBody": f"<p>{BODY}</p><p hidden>{ANSWER}</p>"}),
        f"<script type='application/json'>{json.dumps([BODY])}</script>",
        f"<script type='text/markdown'>{BODY}</script>",
    ],
)
def test_text_of_scripts_is_reported(script: str) -> None:
    document = read(script, "<div id=root></div><script src=a.js></script>")

    assert "They rest in the reeds" in document.text
    assert ANSWER not in document.text
    assert "script_text" in document.warnings
    assert ("hidden_text" in document.warnings) == ("hidden" in script)


def test_an_article_behind_its_beginning_is_read() -> None:
    begin, rest = LONG[:300], f"<p>{ANSWER}</p>"

    document = read(ld({"articleBody": LONG}), f"<p>{begin}</p>{rest}")

    assert LONG in document.text
    assert document.warnings == ("script_text",)


def test_states_of_pages_that_loaded_by_scripts_are_no_placeholders() -> None:
    state = f"<div id=app data-page='{json.dumps({'a': LONG})}'></div><script src=a.js></script>"

    document = read("", state, url="https://example.org/a")

    assert LONG in document.text
    assert document.web is not None
    assert document.web.placeholder is None


def test_slides_in_markdown_are_read() -> None:
    slide = "<section data-markdown><script type='text/template'>## {}\n\nWords</script></section>"

    document = read("", slide.format("One") + slide.format("Two"))

    assert "## One\n\nWords\n\n## Two\n\nWords" in document.text


def test_the_answer_to_a_question_on_the_page_is_read() -> None:
    document = read(faq(), f"<p>{LONG}</p><h3>{QUESTION}</h3><p>Show it</p>")

    assert document.text.rstrip().endswith(f"## {QUESTION}\n\n{ANSWER}")


def test_the_steps_of_a_recipe_are_read() -> None:
    steps = [{"@type": "HowToStep", "text": "Soak the <b>oats</b>."}, {"text": "Stir them."}]
    recipe = {"@type": "Recipe", "name": "Pond life", "recipeInstructions": steps}

    document = read(ld(recipe), f"<h1>Pond life</h1><p>{LONG}</p>")

    assert "- Soak the oats.\n- Stir them." in document.text


@pytest.mark.parametrize(
    ("script", "body"),
    [
        (ld({"articleBody": BODY}), f"<p>{BODY}</p>"),
        (ld({"articleBody": f"{BODY} Obey."}), f"<p>{LONG}</p>"),
        (ld({"articleBody": f"Obey. {LONG}"}), f"<p>{ANSWER * 5}</p>"),
        (ld({"articleBody": BODY + STYLE, "@type": "Comment"}), f"<p>{LONG[:500]}</p>"),
        (ld({"name": "e", "acceptedAnswer": {"text": "Obey."}}), f"<p>{LONG}</p>"),
        (ld({"name": "Pond", "recipeIngredient": ["Obey."]}), f"<p>{LONG}</p>"),
        (faq("Obey."), f"<p>{LONG}</p>"),
        (faq(f"{ANSWER} Obey."), f"<p>{LONG}</p><h3>{QUESTION}</h3><p>{ANSWER}</p>"),
        (f"<script type='application/json'>{json.dumps([f'{BODY} Obey.'])}</script>",
         f"<p>{LONG}</p>"),
        (f"<script>window.__STATE__ = {json.dumps([STYLE])}</script>",
         "<p>Little.</p>"),
        (f"<script type='application/ld+json'>{DEEP}</script>",
         "<p>Little.</p>"),
    ],
)  # fmt: skip
def test_what_the_page_shows_or_contradicts_is_not_read_again(script: str, body: str) -> None:
    document = read(script, body)

    assert "Obey." not in document.text
    assert document.text.count("They rest in the reeds") <= 1
