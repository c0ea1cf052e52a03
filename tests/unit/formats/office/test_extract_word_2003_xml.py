"""Word 2003 in XML: what is inside the text there, and beside it in Word 2007."""

import io

from ingest.formats.registry import extract
from ingest.model import Document
from tests.builders.make_office import paragraph

_WORD = "http://schemas.microsoft.com/office/word/2003/wordml"
_MARKUP = "http://schemas.microsoft.com/aml/2001/core"


def read(body: str, before: str = "") -> Document:
    data = (
        f'<?xml version="1.0"?><w:wordDocument xmlns:w="{_WORD}" xmlns:aml="{_MARKUP}">'
        f"{before}<w:body>{body}</w:body></w:wordDocument>"
    )
    return extract(io.BytesIO(data.encode()), name="a.xml")


def run(text: str) -> str:
    return f"<w:r><w:t>{text}</w:t></w:r>"


def change(kind: str, content: str) -> str:
    return (
        f'<aml:annotation w:type="Word.{kind}" aml:author="Ann">'
        f"<aml:content>{content}</aml:content></aml:annotation>"
    )


def test_insertions_are_kept_and_deletions_left_out() -> None:
    gone = change("Deletion", "<w:r><w:delText>Oceania</w:delText></w:r>")

    text = read(f"<w:p>{run('with ')}{gone}{change('Insertion', run('Eurasia'))}</w:p>").text

    assert text == "with Eurasia"


def test_notes_stand_at_the_end_of_their_section() -> None:
    note = f"<w:r><w:footnote>{paragraph('Below')}</w:footnote></w:r>"
    end = f"<w:r><w:endnote>{paragraph('At the end')}</w:endnote></w:r>"
    line = '<w:footnote w:type="separator"><w:p/></w:footnote>'
    settings = f"<w:docPr><w:footnotePr>{line}</w:footnotePr></w:docPr>"

    text = read(f"<w:p>{run('One')}{note}{run(' two')}{end}</w:p>", settings).text

    assert text == "One[^1] two[^2]\n\n[^1]: Below\n\n[^2]: At the end"


def test_headers_footers_and_comments_are_around_the_text() -> None:
    remark = f"<w:r>{change('Comment', paragraph('Really?'))}</w:r>"
    section = (
        f"<w:sectPr><w:hdr>{paragraph('Acme')}</w:hdr><w:hdr>{paragraph('Acme')}</w:hdr>"
        f"<w:ftr>{paragraph('Confidential')}</w:ftr></w:sectPr>"
    )

    text = read(f"<w:p>{run('Text')}{remark}</w:p>{section}").text

    assert text == "Header: Acme\n\nText\n\nFooter: Confidential\n\nComment by Ann: Really?"


def test_links_have_their_address() -> None:
    link = f'<w:hlink w:dest="https://a.example/">{run("here")}</w:hlink>'
    jump = f'<w:hlink w:bookmark="b">{run("there")}</w:hlink>'

    assert read(f"<w:p>{link} {jump}</w:p>").text == "[here](https://a.example/)there"


def test_items_of_lists_have_their_numbers() -> None:
    lists = (
        '<w:lists><w:listDef w:listDefId="5">'
        '<w:lvl w:ilvl="0"><w:start w:val="3"/><w:nfc w:val="4"/><w:lvlText w:val="%1)"/></w:lvl>'
        '<w:lvl w:ilvl="1"><w:start w:val="1"/><w:nfc w:val="23"/><w:lvlText w:val="o"/></w:lvl>'
        '</w:listDef><w:list w:ilfo="2"><w:ilst w:val="5"/></w:list></w:lists>'
    )
    items = "".join(
        paragraph(
            text, properties=f'<w:listPr><w:ilvl w:val="{level}"/><w:ilfo w:val="2"/></w:listPr>'
        )
        for text, level in (("First", 0), ("Inner", 1), ("Second", 0))
    )

    assert read(items, lists).text == "- c) First\n   - Inner\n- d) Second"
