"""Lists, links and equations in the text of slides (PPTX)."""

import io

import pytest

from ingest.formats.registry import extract
from tests.builders.make_office import presentation

_NUMBER = '<a:buAutoNum type="{}"/>'


def item(text: str, mark: str = "", level: int = 0) -> str:
    return f'<a:p><a:pPr lvl="{level}">{mark}</a:pPr><a:r><a:t>{text}</a:t></a:r></a:p>'


def slide(*paragraphs: str, levels: str = "", kind: str = "") -> str:
    placeholder = f'<p:ph type="{kind}"/>' if kind else ""
    box = (
        f"<p:sp><p:nvSpPr><p:nvPr>{placeholder}</p:nvPr></p:nvSpPr><p:txBody><a:lstStyle>{levels}"
        f"</a:lstStyle>{''.join(paragraphs)}</p:txBody></p:sp>"
    )
    text = extract(io.BytesIO(presentation(box)), name="a.pptx").text
    return text.removeprefix("## Slide 1\n\n")


def test_items_have_the_numbers_that_their_slide_shows() -> None:
    numbers, letters = _NUMBER.format("arabicPeriod"), _NUMBER.format("alphaLcParenR")
    bullet = '<a:buChar char="-"/>'

    assert slide(
        item("One", numbers),
        item("Inner", letters, 1),
        item("More", letters, 1),
        item("Two", numbers),
        item("Again", letters, 1),
        item("Point", bullet, 1),
        item("Anew", letters, 1),
        item("Text"),
        item("First", numbers),
    ) == (
        "1. One\n   - a) Inner\n   - b) More\n2. Two\n   - a) Again\n   - Point\n   - a) Anew"
        "\n\nText\n\n1. First"
    )


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("arabicPeriod", ("4.", "5.")),
        ("arabicParenR", ("4)", "5)")),
        ("arabicPlain", ("- 4", "- 5")),
        ("romanUcPeriod", ("- IV.", "- V.")),
        ("alphaUcParenBoth", ("- (D)", "- (E)")),
        ("circleNumDbPlain", ("4.", "5.")),
    ],
)
def test_numbers_have_the_look_that_is_stated(kind: str, shown: tuple[str, str]) -> None:
    mark = f'<a:buAutoNum type="{kind}" startAt="4"/>'

    assert slide(item("x", mark), item("y", mark)) == f"{shown[0]} x\n{shown[1]} y"


def test_formats_of_the_levels_of_a_shape_count_unless_a_paragraph_has_its_own() -> None:
    levels = f"<a:lvl1pPr>{_NUMBER.format('arabicPeriod')}</a:lvl1pPr>"
    paragraphs = (item("a"), item("b", "<a:buNone/>"), item("c"), item("d", level=1))

    assert slide(*paragraphs, levels=levels) == "1. a\n\nb\n\n1. c\n\nd"
    assert slide(
        item("a"), item("b"), levels="<a:lvl1pPr><a:buNone/></a:lvl1pPr>", kind="body"
    ) == ("a\n\nb")


def linked(text: str, key: str) -> str:
    link = f'<a:rPr><a:hlinkClick r:id="{key}"/></a:rPr>' if key else ""
    return f"<a:r>{link}<a:t>{text}</a:t></a:r>"


def test_links_to_the_web_keep_their_address() -> None:
    runs = [
        linked("See ", ""),
        linked("our ", "web"),
        linked("page", "web"),
        linked(" or ", ""),
        linked("slide 2", "inner"),
        linked(" or ", ""),
        linked("run", "script"),
    ]
    box = f"<p:sp><p:txBody><a:p>{''.join(runs)}</a:p></p:txBody></p:sp>"
    related = {
        "web": ("hyperlink", "https://example.org/a"),
        "inner": ("slide", "<p:sld/>"),
        "script": ("hyperlink", "http-javascript:alert(1)"),
    }

    document = extract(io.BytesIO(presentation(box, related=[related])), name="a.pptx")

    assert document.text.endswith("See [our page](https://example.org/a) or slide 2 or run")


def test_equations_keep_their_fractions_and_powers() -> None:
    power = (
        "<m:sSup><m:e><m:r><m:t>v</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>"
    )
    fraction = f"<m:f><m:num>{power}</m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f>"
    math = f"<a14:m xmlns:a14='a14'><m:oMath><m:r><m:t>E=</m:t></m:r>{fraction}</m:oMath></a14:m>"
    choice = f"<mc:AlternateContent><mc:Choice Requires='a14'>{math}</mc:Choice><mc:Fallback><a:r>"
    choice += "<a:t>picture</a:t></a:r></mc:Fallback></mc:AlternateContent>"

    paragraph = f"<a:p>{linked('Energy ', '')}{choice}{linked(' holds', '')}</a:p>"

    assert slide(paragraph) == "Energy E=(v^2)/2 holds"
