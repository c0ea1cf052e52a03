"""Names of elements that say boilerplate, and are not: words of sentences, messages, notes."""

import io

import pytest

from ingest.formats.registry import extract
from tests.builders import make_files

ARTICLE = "".join(
    f"<p>Paragraph {number} tells at some length of ducks, which swim on ponds, and of geese.</p>"
    for number in range(9)
)
BUTTON = "<button type=button aria-haspopup=dialog>{}</button>"
HIDDEN = "style='display:none'"


@pytest.mark.parametrize(
    ("markup", "kept"),
    [
        (
            f"<p>Return <em>the longest</em> <span>{BUTTON.format('special')}</span> "
            f"<span>{BUTTON.format('subsequence')}</span> in <code>s</code>.</p>",
            "Return *the longest* special subsequence in `s`.",
        ),
        (f"<li>Press {BUTTON.format('Start')} to begin.</li>", "Press Start to begin."),
        ("<div class='adn ads'><i>Jane Doe</i> <div>Booked for Tuesday, with the team</div></div>",
         "Booked for Tuesday, with the team"),
        ("<div class='ads-intro-box'><h1>Ducks at noon</h1><div>A subtitle about ponds</div></div>",
         "A subtitle about ponds"),
        ("<div class=footnote-footer><a href='javascript:;'>1</a>. No relation to the geese</div>",
         "No relation to the geese"),
        (f"<p>Ducks fly.<span class=inline-note>1<span class=footnoteContent {HIDDEN}>Not all of"
         " them, says the keeper of ducks.</span></span></p>", "(Not all of them, says the keeper"),
    ],
)  # fmt: skip
def test_content_with_a_name_of_boilerplate_is_kept(markup: str, kept: str) -> None:
    page = make_files.html(f"<main>{ARTICLE}{markup}{ARTICLE}</main>")

    assert kept in extract(io.BytesIO(page), name="a.html").text


@pytest.mark.parametrize(
    "markup",
    [
        f"<p>The report is done. {BUTTON.format('Out')}</p>",
        f"<div>{BUTTON.format('Out')} {BUTTON.format('Out')}</div>",
        "<div class=ads><a href='https://x.example'>Out of this world, buy three for two</a></div>",
        "<div class=advert>Out</div>",
        "<div class=advert><img src=a.gif>Out of this world and more, buy three</div>",
    ],
)
def test_buttons_and_adverts_are_left_out(markup: str) -> None:
    page = make_files.html(f"<main>{ARTICLE}{markup}{ARTICLE}</main>")

    assert "Out" not in extract(io.BytesIO(page), name="a.html").text
