"""XML: records, articles, feeds, drawings."""

import io

import pytest

from ingest.formats.registry import extract as extract_file
from ingest.model import Document


def extract(data: str | bytes, name: str = "a.xml") -> Document:
    return extract_file(io.BytesIO(data.encode() if isinstance(data, str) else data), name=name)


def text_of(data: str) -> str:
    return extract(data).text


def test_repeated_elements_are_records() -> None:
    assert (
        text_of(
            "<towns><town><name>Rome</name><river>Tiber</river></town>"
            "<town><name>Oslo</name><sea/></town></towns>"
        )
        == "- town: name: Rome; river: Tiber\n- town: name: Oslo"
    )


def test_attributes_are_fields() -> None:
    assert text_of('<r xmlns="urn:x"><p id="1" xml:lang="en"><q unit="kg">5</q></p></r>') == (
        "- p: id: 1; q.unit: kg; q: 5"
    )


def test_parent_of_xml_records_becomes_a_list_item() -> None:
    assert text_of(
        '<orders><order id="7"><buyer><name>Ann</name><town>Rome</town></buyer><lines>'
        "<line><sku>x</sku></line></lines><note>by <b>post</b> only</note></order></orders>"
    ) == (
        "- order: id: 7\n  - buyer: name: Ann; town: Rome\n  - lines:\n    - line: sku: x\n"
        "  - note: by post only"
    )


def test_words_between_elements_are_kept() -> None:
    assert text_of("<a>one<b><c><d>two</d></c></b>three</a>") == "- onetwothree"
    assert text_of("<a><b><c><d>two</d></c></b>three</a>") == "- b:\n  - c: d: two\n- three"


def test_a_record_of_very_many_fields_is_a_list() -> None:
    fields = "".join(f"<v>{number}</v>" for number in range(6000))

    rows = text_of(f"<r><s>{fields}</s></r>").split("\n")

    assert rows[-1] == "  - v: 5999"


def test_a_journal_article_has_its_structure() -> None:
    document = extract(
        "<article><front><journal-meta><journal-title>Acta</journal-title></journal-meta>"
        '<article-meta><article-id pub-id-type="doi">10.1/x</article-id><title-group>'
        "<article-title>On <italic>ducks</italic></article-title></title-group><contrib-group>"
        '<contrib contrib-type="author"><name><surname>Lee</surname><given-names>Ann</given-names>'
        "</name></contrib></contrib-group><pub-date><day>5</day><month>2</month><year>2020</year>"
        "</pub-date><abstract><p>Short.</p></abstract></article-meta></front><body><sec><label>1"
        "</label><title>Start</title><p>H<sub>2</sub>O, see <xref>[1]</xref>.</p><sec><title>Deep"
        "</title><table-wrap><label>Table 1</label><caption><p>Sizes.</p></caption><table><tr>"
        "<th>a</th><th colspan='2'>b</th></tr><tr><td>1</td><td>2</td><td>3</td></tr></table>"
        "</table-wrap><list><list-item><p>first</p></list-item><list-item><p>second</p>"
        "</list-item></list></sec></sec></body><back><ref-list><title>References</title><ref>"
        "<mixed-citation>Lee 2019.</mixed-citation></ref></ref-list></back></article>"
    )

    assert document.text == (
        "# On ducks\n\n- Journal: Acta; DOI: 10.1/x; Published: 2020-02-05\n\n- Lee Ann\n\n"
        "## Abstract\n\nShort.\n\n## 1 Start\n\nH₂O, see [1].\n\n### Deep\n\nTable 1 Sizes.\n\n"
        "| a | b | b |\n|---|---|---|\n| 1 | 2 | 3 |\n\n- first\n- second\n\n"
        "## References\n\n- Lee 2019."
    )
    assert document.title == "On ducks"
    assert document.metadata == {
        "author": "Ann Lee",
        "journal": "Acta",
        "doi": "10.1/x",
        "date": "2020-02-05",
    }


def test_a_docbook_has_its_structure() -> None:
    assert (
        text_of(
            '<book xmlns="http://docbook.org/ns/docbook"><info><title>B</title></info><chapter><title>C'
            "</title><para>One<itemizedlist><listitem><para>x</para></listitem></itemizedlist>two</para>"
            "<programlisting>if x:\n    y</programlisting></chapter></book>"
        )
        == "# B\n\n## C\n\nOne\n\n- x\n\ntwo\n\n````\nif x:\n    y\n````"
    )


def test_formulas_are_read_once() -> None:
    formula = "<alternatives><math><mi>x</mi></math><tex-math>\\x<b>y</b></tex-math></alternatives>"

    assert text_of(f"<article><p>with <f>{formula}</f> in it</p></article>") == "with x in it"


def test_sections_too_deep_for_a_tree_are_still_read() -> None:
    depth = 3000

    text = text_of(
        "<article>" + "<sec>" * depth + "<p>bottom</p>" + "</sec>" * depth + "</article>"
    )

    assert "bottom" in text


def test_a_feed_has_its_entries_as_sections() -> None:
    document = extract(
        '<rss xmlns:c="http://purl.org/rss/1.0/modules/content/"><channel><title>News</title>'
        "<description>All of it</description><item><title>One</title><link>http://a.example/1</link>"
        "<pubDate>today</pubDate><description>short</description><c:encoded><![CDATA[<h2>Big</h2>"
        "<p>A&nbsp;long <b>text</b></p>]]></c:encoded></item></channel></rss>"
    )

    assert document.title == "News"
    assert document.text == (
        "# News\n\nAll of it\n\n## One\n\n- Link: http://a.example/1; Date: today\n\n#### Big\n\n"
        "A long **text**"
    )


def test_an_atom_feed_has_its_entries_as_sections() -> None:
    assert (
        text_of(
            '<feed xmlns="http://www.w3.org/2005/Atom"><title>F</title><entry><title>E</title>'
            '<link rel="self" href="http://a/self"/><link href="http://a/1"/><author><name>Ann</name>'
            '</author><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Words</p></div>'
            "</content></entry></feed>"
        )
        == "# F\n\n## E\n\n- Link: http://a/1; Author: Ann\n\nWords"
    )


def test_rdf_that_is_not_a_feed_is_read_as_data() -> None:
    assert (
        text_of('<r:RDF xmlns:r="urn:r"><r:Person r:about="x"><name>Ann</name></r:Person></r:RDF>')
        == "- Person: about: x; name: Ann"
    )


def test_svg_is_read_as_its_title_and_text() -> None:
    document = extract(
        '<svg xmlns="http://www.w3.org/2000/svg"><title>Map</title><path d="M0 0L9 9"/>'
        "<text>North <tspan>Pole</tspan></text></svg>",
        "a.svg",
    )

    assert document.text == "Map\nNorth Pole"


def test_a_page_in_xhtml_is_a_web_page() -> None:
    document = extract(
        '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>T</title>'
        "</head><body><p>Words on a page</p></body></html>"
    )

    assert "Words on a page" in document.text


def _article(inside: str) -> list[str]:
    document = extract(
        f"<article><title>A</title><section><title>S</title>{inside}</section></article>"
    )
    return document.text.removeprefix("# A\n\n## S\n\n").split("\n\n")


@pytest.mark.parametrize(
    ("inside", "shown"),
    [
        ("<p>10<sup>-3</sup>, CO<sub>2</sub>, m<superscript>2</superscript></p>",
         ["10^-3, CO₂, m²"]),
        ("<p>For <math><msup><mi>x</mi><mn>2</mn></msup></math> and"
         " <math><msub><mi>x</mi><mn>1</mn></msub></math></p>", ["For x^2 and x_1"]),
        ("<p>Is <m:math xmlns:m='urn:m'><m:mroot><m:mn>8</m:mn><m:mn>3</m:mn></m:mroot></m:math>,"
         " <alternatives><tex-math>\\frac{a}{b}</tex-math></alternatives></p>",
         ["Is ∛8, \\frac{a}{b}"]),
        ("<p>Is <tex-math>\\documentclass{a}\\begin{document}$$x_1$$\\end{document}</tex-math></p>",
         ["Is x_1"]),
        ("<warning><title>Hot</title><para>Burns.</para></warning><para>After.</para>",
         ["**Hot**", "Burns.", "After."]),
        ("<note><para>Mind.</para></note>", ["Note:", "Mind."]),
        ("<variablelist><varlistentry><term>T</term><term>U</term><listitem><para>Is.</para>"
         "</listitem></varlistentry></variablelist>", ["- T, U: Is."]),
        ("<table><thead><tr><th>A</th><th>B</th></tr></thead><tr><td rowspan='2'>x</td><td>1</td>"
         "</tr><tr><td>2</td></tr><tr><td colspan='2'>y</td></tr></table>",
         ["| A | B |\n|---|---|\n| x | 1 |\n| x | 2 |\n| y | y |"]),
        ("<informaltable><tgroup cols='2'><colspec colname='a'/><colspec colname='b'/><tbody><row>"
         "<entry namest='a' nameend='b'>w</entry></row><row><entry morerows='1'>x</entry><entry>1"
         "</entry></row><row><entry>2</entry></row></tbody></tgroup></informaltable>",
         ["| w | w |\n|---|---|\n| x | 1 |\n| x | 2 |"]),
    ],
)  # fmt: skip
def test_articles_keep_values_terms_and_merged_cells(inside: str, shown: list[str]) -> None:
    assert _article(inside) == shown
