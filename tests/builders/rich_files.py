"""One file of each format with what only some steps look at: notes, comments, tables, headers …"""

import json

from tests.builders import make_files, make_images, make_mail, make_office, make_sheets
from tests.builders.make_office import paragraph, shape
from tests.builders.make_pdf import Sheet, at, document, grid, lines
from tests.fuzz_seeds import seeds

_PROSE = "The quick brown fox jumps over the lazy dog and goes on to the next of its lines."
_ARTICLE = (
    "<article><front><journal-meta><journal-title>Journal</journal-title></journal-meta>"
    "<article-meta><article-id pub-id-type='doi'>10/1</article-id><contrib-group>"
    "<contrib contrib-type='author'><name><surname>Lovelace</surname></name></contrib>"
    "</contrib-group></article-meta></front><body><sec><title>Results</title>"
    "<p>Paragraph of results.</p><table><tr><td>Valve</td><td>Pressure</td></tr></table>"
    "</sec></body></article>"
)


def rich_files() -> dict[str, bytes]:
    """Names and bytes."""
    return seeds() | {
        "rich.pdf": _pdf(),
        "rich.docx": _docx(),
        "rich.pptx": _pptx(),
        "rich.odt": make_office.open_document(
            "<text:h text:outline-level='1'>Overview</text:h><text:list><text:list-item>"
            "<text:p>First item</text:p></text:list-item></text:list><text:p>Paragraph"
            "<text:note text:note-class='footnote'><text:note-body><text:p>Footnote words"
            "</text:p></text:note-body></text:note></text:p><table:table><table:table-row>"
            "<table:table-cell><text:p>Valve</text:p></table:table-cell><table:table-cell>"
            "<text:p>Pressure</text:p></table:table-cell></table:table-row></table:table>"
        ),
        "rich.xlsx": make_sheets.xlsx(
            {"One": [["Name", "Age"], ["Ada", 36], [], ["Town", "Oslo"]]}
        ),
        "article.xml": _ARTICLE.encode(),
        "rich.eml": make_mail.multipart(
            "mixed",
            "Content-Type: text/calendar\r\n\r\nBEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n"
            "SUMMARY:Meeting about valves\r\nEND:VEVENT\r\nEND:VCALENDAR",
            make_mail.nested(
                "alternative",
                "Content-Type: text/plain\r\n\r\nThe words of the message.",
                "Content-Type: text/html\r\n\r\n<p>The <b>words</b> of the message.</p>",
            ),
        ),
        "page.eml": make_mail.eml(
            "<h1>Heading</h1><p>The words of a page.</p>",
            headers=["Content-Type: text/html"],
        ),
        "rich.epub": make_mail.epub(
            {"one.xhtml": "<h1>One</h1><p>Words of a chapter.</p>"},
            navigation='<li><a href="one.xhtml">One</a></li>',
        ),
        "page.mht": make_mail.multipart(
            "related",
            "Content-Type: text/html\r\nContent-Location: https://example.org/\r\n\r\n"
            "<html><body><h1>Saved</h1><p>The words of a saved page.</p></body></html>",
        ),
        "rich.ipynb": json.dumps(
            {
                "cells": [
                    {"cell_type": "markdown", "source": ["# Notebook"]},
                    {"cell_type": "code", "source": "print(1)", "outputs": [{"text": "printed"}]},
                ],
                "metadata": {"kernelspec": {"language": "python"}},
                "nbformat": 4,
            }
        ).encode(),
        "rich.md": b"---\nauthor: Ann\n---\n# Heading\n\nWords. <!-- note -->\n\n- item\n",
        "a.py": b'"""Docstring."""\n\n\ndef answer():\n    return 42\n',
        "a.srt": b"1\n00:00:01,000 --> 00:00:02,000\nSomebody speaks.\n",
        "a.rst": b"Title\n=====\n\nWords of a paragraph.\n",
    }


def _pdf() -> bytes:
    """Every page has a footer, a heading, a cut word; one has a table, comments, two columns."""
    pages = [
        Sheet(
            content=at(60, 760, title, size=24)
            + lines(60, 700, *[_PROSE] * 6, "A long explan-", "ation follows here. " + _PROSE)
            + lines(60, 500, f"{number}.1 Numbered heading", font="B")
            + lines(60, 470, _PROSE)
            + grid([60, 200, 340], [400, 380, 360])
            + at(64, 386, "Valve")
            + at(204, 386, "Pressure")
            + at(64, 366, "V035")
            + at(204, 366, "16 bar")
            + at(60, 30, f"Confidential paper, page {number}"),
            annotations=[
                b"/Subtype /Text /Rect [10 10 20 20] /Contents (Comment of a reader)",
            ],
        )
        for number, title in enumerate(("Valves", "Pumps", "Seals", "Pipes", "Tanks"), start=1)
    ]
    return document(
        *pages,
        info=b"/Title (Stated title) /Author (Ann)",
        extra=[b"null"],
    )


def _docx() -> bytes:
    numbering = (
        '<w:numbering><w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:start w:val="1"/>'
        '<w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl></w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num></w:numbering>'
    )
    styles = '<w:styles><w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style></w:styles>'
    words = paragraph("Footnote words")
    note = f'<w:footnotes><w:footnote w:id="2">{words}</w:footnote></w:footnotes>'
    comment = (
        f'<w:comments><w:comment w:id="1" w:author="Ann">{paragraph("Reader comment")}'
        "</w:comment></w:comments>"
    )
    body = (
        paragraph("Overview", properties='<w:pStyle w:val="H1"/>')
        + paragraph("First item", properties='<w:numPr><w:numId w:val="1"/></w:numPr>')
        + '<w:p><w:r><w:t>With a note</w:t><w:footnoteReference w:id="2"/></w:r></w:p>'
        + f"<w:tbl><w:tr><w:tc>{paragraph('Valve')}</w:tc><w:tc>{paragraph('Pressure')}</w:tc>"
        "</w:tr></w:tbl>"
    )
    return make_office.word(
        body,
        {
            "n": ("numbering", numbering),
            "s": ("styles", styles),
            "f": ("footnotes", note),
            "c": ("comments", comment),
            "h": ("header", f"<w:hdr>{paragraph('Confidential paper')}</w:hdr>"),
        },
    )


def _pptx() -> bytes:
    notes = f"<p:notes><p:cSld><p:spTree>{shape('Speaker notes')}</p:spTree></p:cSld></p:notes>"
    comments = '<p:cmLst><p:cm authorId="3"><p:text>Reader comment</p:text></p:cm></p:cmLst>'
    table = (
        "<p:graphicFrame><a:tbl><a:tr><a:tc><a:txBody><a:p><a:r><a:t>Valve</a:t></a:r></a:p>"
        "</a:txBody></a:tc></a:tr></a:tbl></p:graphicFrame>"
    )
    return make_office.presentation(
        shape("Title", kind="title")
        + shape("Below", at=(1, 9))
        + shape("Above", at=(1, 4))
        + table,
        related=[{"n1": ("notesSlide", notes), "k1": ("comments", comments)}],
    )


PICTURE = make_images.encoded(make_images.drawn("Words"))
SCAN = make_files.scanned_pdf()
