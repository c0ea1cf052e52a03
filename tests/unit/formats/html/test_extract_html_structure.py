"""Structure of pages that converters lose: it comes out of short pages and of long ones."""

import io

import pytest

from ingest.errors import Permanent
from ingest.formats.html.parse import parse_page
from ingest.formats.registry import extract
from ingest.model import Document
from tests.builders import make_files

LONG = "".join(
    f"<p>Paragraph {number} tells at some length of ducks, which swim on ponds, and of geese, "
    "which walk beside them in the grass.</p>"
    for number in range(25)
)


@pytest.mark.parametrize("around", ["", LONG], ids=["short", "long"])
@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<table><tr><th rowspan=2>Region<th colspan=2>Sales<tr><th>2023<th>2024"
         "<tr><td>North<td>1<td>2</table>",
         ["| Region | Sales 2023 | Sales 2024 |", "| North | 1 | 2 |"]),
        ("<table><thead><tr><td colspan=2>Prices of 2026<tr><td>A<td>B<tbody><tr><td>1<td>2"
         "</table>",
         ["Prices of 2026\n\n| A | B |", "| 1 | 2 |"]),
        ("<table><tr><th>A<th>B<tr><td><svg role=img aria-label=Included></svg><td><svg><title>No"
         "</title></svg><tr><td><i class=x aria-label=Yes></i><td>b</table>",
         ["| Included | No |", "| Yes | b |"]),
        ("<svg><title>Flow</title><desc>Client asks server</desc><text>x</text></svg><p>Text.</p>",
         ["Flow: Client asks server"]),
        ("<blockquote><p>Words.</p><footer>— Ada</footer></blockquote>", ["> Words.\n>\n> — Ada"]),
        ("<table><tr><td class=gutter><pre class=lineno>1\n2\n</pre><td class=code><pre>a\nb\n"
         "</pre></table>", ["```\na\nb\n```"]),
        ("<table><caption>Ducks</caption><tr><th>A<th>B<tr><td>1<td>2</table>",
         ["Ducks\n\n| A | B |", "| 1 | 2 |"]),
        ("<dl><dt>HTTP</dt><dt>HTTPS</dt><dd>A protocol.</dd><dd>Old.</dd><dt>TCP<dd>Another.</dl>",
         ["- **HTTP** / **HTTPS**: A protocol. Old.", "- **TCP**: Another."]),
        ("<pre># one\n  two\n</pre>", ["```\n# one\n  two\n```"]),
        ("<pre><code># one\n  two\n</code></pre>", ["```\n# one\n  two\n```"]),
        ("<figure><img src=a.png><figcaption>Figure 1: A duck.</figcaption></figure>",
         ["Figure 1: A duck."]),
        ("<p>Mass <math><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></math> is.",
         ["Mass E=mc^2 is."]),
        ("<p>Mass <math alttext='{\\displaystyle E}'><mi>E</mi></math> is.", ["Mass E is."]),
        ("<p>It <math><semantics><mi>x</mi><annotation encoding='application/x-tex'>a_b"
         "</annotation></semantics></math> is.", ["It a_b is."]),
        ("<details><summary>More</summary><p>Text of the details.</p></details>",
         ["**More**", "Text of the details."]),
        ("<p>H<sub>2</sub>O, snake_case_name, a*b and [1].",
         ["H₂O, snake_case_name, a*b and [1]."]),
        ("<table><tr><td><h2>Part</h2><p>Of a layout.</table>", ["## Part", "\nOf a layout."]),
        ("<table><tr><td>One cell with words.<tr><td>Another cell.</table>",
         ["One cell with words.\n\nAnother cell."]),
        ("<table><tr><td>Outer words.<table><tr><td>a<td>b<tr><td>c<td>d</table></table>",
         ["Outer words.", "| a | b |"]),
        ("<p>See <a href='../b?c=d'>this link</a> for the rest of what there is to be told here.",
         ["[this link](../b?c=d)"]),
    ],
)  # fmt: skip
def test_structure_becomes_markdown(markup: str, expected: list[str], around: str) -> None:
    page = make_files.html(f"<main><h1>Head</h1>{around}{markup}{around}</main>")

    text = extract(io.BytesIO(page), name="page.html").text

    assert [piece for piece in expected if piece not in text.replace(" \n", "\n")] == []


@pytest.mark.parametrize(
    "markup",
    [
        "<table>" + "<tr><td colspan=1000 rowspan=1000>word" * 500 + "</table>",
        f"<table><tr><td colspan=200>{'word ' * 100_000}<td>b</table>",
        "<table><tr>" + "<td rowspan=60000>word" * 500 + "</table>",
        "<dl>" + "<dt>term<dd>word" * 1000 + "</dl>",
        "<table><tr><td>" * 150 + "word",
        "<math>" * 500 + "word",
        "<details><summary>" * 150 + "word",
        "<table><tr><td colspan=-1 rowspan=x>word<td colspan=²>b</table>",
    ],
)
def test_hostile_structure_is_read_completely_and_quickly(markup: str) -> None:
    page = make_files.html(f"<p>first</p>{markup}")

    assert "word" in extract(io.BytesIO(page), name="page.html").text


def test_a_tag_with_more_attributes_than_can_be_compared_loses_them() -> None:
    crowd = " ".join(f"a{number}" for number in range(20_001))

    tree, _ = parse_page(f"<p {crowd}>The words</p>")

    assert tree.text_content() == "The words"
    assert tree.xpath("//p/@*") == []


def page(body: str) -> Document:
    return extract(io.BytesIO(make_files.html(body)), name="a.html")


def test_page_with_too_many_tags_is_too_large() -> None:
    with pytest.raises(Permanent) as caught:
        extract(io.BytesIO(b"<html>" + b"<p>" * 8_000_001), name="a.html")

    assert caught.value.code == "too_large"
