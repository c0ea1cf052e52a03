"""Notes stand at the end of the section that refers to them."""

import pytest

from tests.unit.formats.html.test_extract_html_inline import text_of

NEXT = "<h2>Next</h2><p>Other text.</p>"


@pytest.mark.parametrize(
    ("link", "note"),
    [
        pytest.param(
            '<a href="#fn1" id="fnref1" role="doc-noteref"><sup>1</sup></a>',
            '<section class="footnotes" role="doc-endnotes"><hr><ol><li id="fn1"><p>Said so.'
            '<a href="#fnref1" role="doc-backlink">↩︎</a></p></li></ol></section>',
            id="pandoc",
        ),
        pytest.param(
            '<sup id="fnref:1"><a href="#fn:1">1</a></sup>',
            '<div class="footnotes"><ol><li id="fn:1"><p>Said so. <a href="#fnref:1">↩</a></p>'
            "</li></ol></div>",
            id="kramdown",
        ),
        pytest.param(
            '<a class="footnote-reference brackets" href="#n" id="r"><span>[</span>1<span>]</span>'
            "</a>",
            '<aside class="footnote brackets" id="n" role="doc-footnote"><span class="label">'
            '<span>[</span><a role="doc-backlink" href="#r">1</a><span>]</span></span>'
            "<p>Said so.</p></aside>",
            id="docutils",
        ),
        pytest.param(
            '<a class="footnote-reference brackets" href="#n" id="r">1</a>',
            '<dl class="footnote"><dt class="label" id="n"><span><a href="#r">1</a></span></dt>'
            "<dd><p>Said so.</p></dd></dl>",
            id="earlier docutils",
        ),
        pytest.param(
            '<a href="#_ftn1" name="_ftnref1"><span>[1]</span></a>',
            '<div><hr><div id="ftn1"><p><a href="#_ftnref1" name="_ftn1"><span>[1]</span></a>'
            " Said so.</p></div></div>",
            id="Word",
        ),
        pytest.param(
            '<sup><a href="#note" id="back">1</a></sup>',
            '<p id="note"><a href="#back">1.</a> Said so.</p>',
            id="by hand",
        ),
    ],
)
def test_a_note_stands_at_the_end_of_its_section(link: str, note: str) -> None:
    page = f"<h1>Title</h1><p>A claim{link} here.</p><p>More of it.</p>{NEXT}{note}"

    found = text_of(page).replace("claim [", "claim[").strip("-\n ")

    assert found == (
        "# Title\n\nA claim[^1] here.\n\nMore of it.\n\n[^1]: Said so.\n\n## Next\n\nOther text."
    )


def test_a_list_of_references_stays_below_its_heading() -> None:
    page = (
        '<h1>Title</h1><p>A claim<sup id="r"><a href="#n">[1]</a></sup> here.</p>'
        '<h2>References</h2><ol><li id="n"><a href="#r">^</a> Smith, 2001.</li></ol>'
    )

    assert text_of(page) == "# Title\n\nA claim[1] here.\n\n## References\n\n1. Smith, 2001."


def test_the_heading_of_moved_notes_goes_with_them() -> None:
    note = '<li id="n">Said so. <a href="#r">↩</a></li>'
    page = (
        '<h1>Title</h1><p>A claim<sup><a href="#n" id="r">1</a></sup>.</p><h2>Next</h2><p>Text.</p>'
        f'<section class="footnotes"><h2 class="sr-only">Footnotes</h2><ol>{note}</ol></section>'
    )

    assert text_of(page) == "# Title\n\nA claim[^1].\n\n[^1]: Said so.\n\n## Next\n\nText."


def test_a_link_to_a_numbered_paragraph_is_no_note() -> None:
    page = '<h1>Title</h1><p>See <a href="#p2">2</a>.</p><h2>Next</h2><p id="p2">Second.</p>'

    assert text_of(page) == "# Title\n\nSee 2.\n\n## Next\n\nSecond."


def test_notes_below_their_numbers_in_headings() -> None:
    """As Texinfo writes them."""
    page = (
        '<h1>Title</h1><p>A claim<a class=footnote id=D1 href="#F1"><sup>1</sup></a>.</p><hr>'
        "<div class=footnotes-segment><h4>Footnotes</h4>"
        '<h5><a id=F1 href="#D1">(1)</a></h5><p>Said so.</p></div>'
    )

    assert text_of(page).startswith("# Title\n\nA claim[^1].\n\n---")
    assert text_of(page).endswith("[^1]: Said so.")
    assert "(1)" not in text_of(page)
