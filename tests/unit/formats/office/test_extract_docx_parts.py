"""Word documents: notes, margins, comments, embedded files, other packagings."""

import io
import zipfile

import pytest

from ingest.formats.registry import extract as extract_file
from ingest.model import Document
from tests.builders import make_files, make_office
from tests.builders.make_mail import Kept
from tests.builders.make_office import paragraph, word


def extract(data: bytes, members: Kept | None = None) -> Document:
    return extract_file(io.BytesIO(data), name="a.docx", members=members)


def run(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def style(name: str, *, key: str, based_on: str = "", properties: str = "", run: str = "") -> str:
    return (
        f'<w:style w:styleId="{key}"><w:name w:val="{name}"/><w:basedOn w:val="{based_on}"/>'
        f"<w:pPr>{properties}</w:pPr><w:rPr>{run}</w:rPr></w:style>"
    )


def test_embedded_html_is_read() -> None:
    data = make_files.docx(
        [],
        body='<w:altChunk r:id="rId9"/>',
        extra={
            "word/_rels/document.xml.rels": make_files.docx_relation("aFChunk", "chunk.html"),
            "word/chunk.html": b"<p>From <b>HTML</b></p>",
        },
    )

    assert "From **HTML**" in extract(data).text


def test_notes_stand_at_the_end_under_their_numbers() -> None:
    body = (
        '<w:p><w:r><w:t>one</w:t><w:footnoteReference w:id="5"/></w:r>'
        '<w:r><w:t> two</w:t><w:endnoteReference w:id="5"/></w:r></w:p>'
    )
    footnotes = f'<w:footnotes><w:footnote w:id="5">{run("foot")}</w:footnote></w:footnotes>'
    endnotes = f'<w:endnotes><w:endnote w:id="5">{run("end")}</w:endnote></w:endnotes>'

    document = extract(word(body, {"f": ("footnotes", footnotes), "e": ("endnotes", endnotes)}))

    assert document.text == "one[^1] two[^2]\n\n[^1]: foot\n\n[^2]: end"


def test_a_note_stands_at_the_end_of_the_section_that_refers_to_it() -> None:
    def refer(text: str, note: int) -> str:
        return f'<w:p><w:r><w:t>{text}</w:t><w:footnoteReference w:id="{note}"/></w:r></w:p>'

    heading = '<w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>Next</w:t></w:r></w:p>'
    body = refer("one", 2) + run("more") + heading + refer("two", 3) + refer("again", 2)
    notes = "".join(
        f'<w:footnote w:id="{note}">{run(text)}</w:footnote>' for note, text in ((2, "a"), (3, "b"))
    )

    document = extract(word(body, {"f": ("footnotes", f"<w:footnotes>{notes}</w:footnotes>")}))

    assert document.text == (
        "one[^1]\n\nmore\n\n[^1]: a\n\n# Next\n\ntwo[^2]\n\nagain[^1]\n\n[^2]: b"
    )


def test_headers_and_footers_appear_once_without_page_numbers() -> None:
    header = f"<w:hdr>{run('Our company')}</w:hdr>"
    page = '<w:p><w:r><w:t>Page </w:t></w:r><w:fldSimple w:instr=" PAGE ">' + (
        "<w:r><w:t>7</w:t></w:r></w:fldSimple></w:p>"
    )
    footer = f"<w:ftr>{run('Confidential')}{page}</w:ftr>"

    document = extract(
        word(
            run("Text"),
            {"h1": ("header", header), "h2": ("header", header), "f": ("footer", footer)},
        )
    )

    assert document.text == "Header: Our company\n\nText\n\nFooter: Confidential"


def test_comments_stand_at_the_end_with_their_author() -> None:
    comments = (
        f'<w:comments><w:comment w:id="1" w:author="Ann">{run("Too long")}</w:comment></w:comments>'
    )

    document = extract(word(run("Text"), {"c": ("comments", comments)}))

    assert document.text == "Text\n\nComment by Ann: Too long"


def test_the_strict_variant_reads_the_same() -> None:
    styles = f"<w:styles>{style('heading 1', key='H')}</w:styles>"
    body = paragraph("A", properties='<w:pStyle w:val="H"/>') + run("b")

    document = extract(word(body, {"s": ("styles", styles)}, strict=True))

    assert document.text == "# A\n\nb"


def test_byte_order_mark_in_a_part_is_ignored() -> None:
    data = make_files.docx(
        extra={
            "word/document.xml": b"\xef\xbb\xbf"
            + make_office.xml(f"<w:document><w:body>{run('marked')}</w:body></w:document>")
        }
    )

    assert extract(data).text == "marked"


def test_embedded_word_text_and_rtf_are_shown_in_place() -> None:
    body = run("a") + "".join(f'<w:altChunk r:id="{key}"/>' for key in ("c.docx", "c.rtf", "c.x"))

    document = extract(
        word(
            body + run("z"),
            {
                "c.docx": ("aFChunk", word(run("from Word"))),
                "c.rtf": ("aFChunk", rb"{\rtf1 from RTF}"),
                "c.x": ("aFChunk", b"?"),
            },
        )
    )

    assert document.text == "a\n\nfrom Word\n\nfrom RTF\n\nz"
    assert document.metadata["attachments"] == [{"name": "c.x", "sizeBytes": 1}]


def test_embedded_files_are_members() -> None:
    kept = Kept()
    embedded = make_office.packaged_file("plan.txt", b"Plan B")

    document = extract(word(run("A"), {"ole1.bin": ("oleObject", embedded)}), kept)

    assert kept.files == {"plan.txt": b"Plan B"}
    assert document.metadata["attachments"] == [{"name": "plan.txt", "sizeBytes": 6}]


def test_a_package_in_one_file_of_xml_reads_like_its_zip() -> None:
    with zipfile.ZipFile(io.BytesIO(word(run("flat")))) as package:
        parts = {name: package.read(name) for name in package.namelist()}

    document = extract_file(io.BytesIO(make_office.flat_package(parts)), name="a.doc")

    assert document.text == "flat"


def test_word_2003_xml_is_read() -> None:
    space = "http://schemas.microsoft.com/office/word/2003/wordml"
    heading = paragraph("A", properties='<w:pStyle w:val="H"/>')
    data = (
        f'<?xml version="1.0"?><w:wordDocument xmlns:w="{space}"><w:styles>'
        f"{style('heading 1', key='H')}</w:styles><w:body>"
        f"{heading}{run('b')}</w:body></w:wordDocument>"
    ).encode()

    assert extract_file(io.BytesIO(data), name="a.xml").text == "# A\n\nb"


@pytest.mark.parametrize(
    "data",
    [
        b"<html><body><p>Some <b>words</b></p></body></html>",
        b"\xef\xbb\xbf\r\n<p>Some <b>words</b></p>",
        b"MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=b\r\n\r\n--b\r\n"
        b"Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n"
        b"PHA+U29tZSA8Yj53b3JkczwvYj48L3A+\r\n--b--\r\n",
        word("<w:p><w:r><w:t>Some **words**</w:t></w:r></w:p>"),
    ],
    ids=["page", "fragment", "web archive", "Word"],
)
def test_embedded_texts_are_known_by_their_content_whatever_their_name(data: bytes) -> None:
    body = paragraph("Before") + '<w:altChunk r:id="c1"/>' + paragraph("After")

    found = extract(word(body, {"c1": ("aFChunk", data)}))

    assert (found.text, found.warnings) == ("Before\n\nSome **words**\n\nAfter", ())


def test_rows_of_a_table_in_a_cell_are_kept_apart() -> None:
    def rows(*texts: tuple[str, str]) -> str:
        cells = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in texts)
        return "<w:tbl>" + "".join(f"<w:tr>{row}</w:tr>" for row in cells) + "</w:tbl>"

    inner = rows(("Pump", "12"), ("Valve", "9"))
    outer = rows(("Part", "Hall")).replace(paragraph("Part"), paragraph("Parts") + inner)

    assert extract(word(outer)).text == "| Parts Pump 12; Valve 9 | Hall |\n|---|---|"


def test_a_table_in_a_note_is_words_on_its_line() -> None:
    rows = "".join(
        f"<w:tr><w:tc>{run(one)}</w:tc><w:tc>{run(two)}</w:tc></w:tr>"
        for one, two in (("a", "b"), ("c", "d"))
    )
    notes = f'<w:footnotes><w:footnote w:id="5">{run("See")}<w:tbl>{rows}</w:tbl></w:footnote>'

    document = extract(
        word(
            '<w:p><w:r><w:t>one</w:t><w:footnoteReference w:id="5"/></w:r></w:p>',
            {"f": ("footnotes", f"{notes}</w:footnotes>")},
        )
    )

    assert document.text == "one[^1]\n\n[^1]: See a b; c d"


def test_a_text_box_in_both_variants_is_read_once() -> None:
    content = f"<w:txbxContent>{run('boxed')}</w:txbxContent>"
    box = (
        "<w:p><w:r><w:t>Around</w:t><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing>"
        f"<wps:wsp><wps:txbx>{content}</wps:txbx></wps:wsp></w:drawing></mc:Choice><mc:Fallback>"
        f"<w:pict><v:shape><v:textbox>{content}</v:textbox></v:shape></w:pict></mc:Fallback>"
        "</mc:AlternateContent></w:r></w:p>"
    )

    document = extract(word(box, {"h": ("header", f"<w:hdr>{box}</w:hdr>")}))

    assert document.text == "Header: Around boxed\n\nAround\n\nboxed"


def test_word_art_and_shapes_pasted_from_a_slide_are_read() -> None:
    canvas = (
        "<w:drawing><a:graphic><lc:lockedCanvas xmlns:lc='lc'><a:sp><a:txSp><a:txBody>"
        "<a:p><a:r><a:t>High</a:t></a:r></a:p><a:p><a:r><a:t>level</a:t></a:r></a:p></a:txBody>"
        "</a:txSp></a:sp><a:sp><a:txSp><a:txBody><a:p/></a:txBody></a:txSp></a:sp>"
        "</lc:lockedCanvas></a:graphic></w:drawing>"
    )
    art = "<w:pict><v:shape><v:textpath string='Grand  opening'/></v:shape></w:pict>"
    body = f"<w:p><w:r><w:t>Before</w:t>{art}{canvas}</w:r></w:p>"

    document = extract_file(io.BytesIO(word(body)), name="a.docx")

    assert document.text.strip() == "Before\n\nGrand opening\n\nHigh\nlevel"
