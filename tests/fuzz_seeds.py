"""One small healthy file of each format, to be broken."""

import gzip

from tests.builders import make_files, make_images, make_mail, make_office, make_sheets, make_tnef
from tests.builders import make_powerpoint_97 as ppt
from tests.builders.make_archives import nested, tar_of, zip_of
from tests.builders.make_graph_97 import TITLE, graph

_RTF = rb"{\rtf1\ansi\ansicpg1250{\fonttbl{\f0 Arial;}}{\b Bold} text \'e8 \u269? \par {\*\x y}}"
_ARTICLE = (
    "<p>An honest page has some words, and then some more of them.</p><h2>Heading</h2><table>"
    "<tr><th>a</th><th>b</th></tr><tr><td rowspan=2>1</td><td>2</td></tr></table><pre>code</pre>"
)
_FEED = (
    "<?xml version='1.0'?><rss><channel><title>News</title><item><title>One</title>"
    "<link>https://example.org/1</link><description>First</description></item></channel></rss>"
)
_ROWS: list[list[make_sheets.Cell]] = [["Name", "Age"], ["Ada", 36], ["Bob", 41]]


def _slides() -> bytes:
    outline = ppt.text("Overview", ppt.TITLE) + ppt.text("First\rSecond", ppt.BODY)
    notes = [ppt.shape(ppt.text("Say this", 2), placeholder=ppt.NOTES_BODY)]
    cells = (ppt.shape(ppt.text(word), at=(0, 9 * at)) for at, word in enumerate(("Pens", "Ink")))
    table = ppt.group(*cells, own=ppt.shape(options={ppt.TABLE: 1}))
    shapes = [ppt.shape(0), ppt.shape(1), table, ppt.shape(embedded=1)]
    slide = ppt.Slide(shapes=shapes, outline=outline, notes=notes, more=[ppt.comment("Ann", "Yes")])
    chart = graph([["", "Tonnes"], ["Rome", 1.5]], titles={TITLE: "Cargo"})
    return ppt.presentation(slide, embedded=[chart])


def seeds() -> dict[str, bytes]:
    """Names, whose endings promise the formats, and bytes."""
    mail = make_mail.multipart(
        "mixed",
        "Content-Type: text/plain; charset=utf-8\r\n\r\nThe body of the message.",
        "Content-Type: text/plain; name=a.txt\r\nContent-Disposition: attachment\r\n\r\nInside.",
    )
    item = make_mail.msg_item(
        {0x0037: "Subject", 0x1000: "The body of the item."},
        attachments=[make_mail.msg_attachment("a.txt", b"attached")],
    )
    packed = make_tnef.tnef(
        make_tnef.attribute(0x8004, b"Subject\0"),
        make_tnef.attribute(
            0x9003,
            make_tnef.props(
                make_tnef.prop(make_tnef.STRING, 0x0C1A, "Ada\0".encode("utf-16-le")),
                make_tnef.prop(make_tnef.BINARY, make_tnef.HTML, b"<p>The packed body.</p>"),
            ),
        ),
        make_tnef.file(b"a.txt", b"attached"),
    )
    return {
        "a.txt": "Plain text with an umlaut: ü, and more of it.\n\nSecond paragraph.".encode(),
        "utf16.txt": "Sixteen bits".encode("utf-16"),
        "a.md": b"---\ntitle: T\n---\n# Heading\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- item\n",
        "a.html": make_files.html(_ARTICLE),
        "a.csv": b'Name;Age\nAda;36\n"Bob; or\nso";41\n',
        "a.tsv": b"Name\tAge\nAda\t36\nBob\t41\n",
        "a.json": b'[{"name": "Ada", "tags": ["x", 1.5e3, null]}, {"name": "Bob"}]',
        "a.jsonl": b'{"name": "Ada"}\n{"name": "Bob"}\n',
        "a.ipynb": b'{"cells": [{"cell_type": "markdown", "source": ["# T"]}, {"cell_type": "code",'
        b' "source": "1+1", "outputs": [{"text": "2"}]}], "metadata": {}, "nbformat": 4}',
        "a.xml": _FEED.encode(),
        "a.pdf": make_files.pdf(["First page\nwith two lines", "Second page", None], title="T"),
        "form.pdf": make_files.pdf_with_field("filled in"),
        "locked.pdf": make_files.pdf(["secret"], owner_password="x"),
        "a.docx": make_office.word(make_office.paragraph("A letter, and what it says.")),
        "a.pptx": make_office.presentation(make_office.shape("Title", "Words")),
        "a.odt": make_office.open_document("<text:p>OpenDocument text</text:p>"),
        "a.odp": make_office.open_document(
            "<draw:page><draw:frame><draw:text-box><text:p>Slide</text:p></draw:text-box>"
            "</draw:frame></draw:page>",
            kind="presentation",
        ),
        "a.fodt": make_office.flat_open_document("<text:p>Flat text</text:p>"),
        "a.doc": make_office.doc("A Word 97 document\rof two paragraphs\r"),
        "a.ppt": _slides(),
        "a.rtf": _RTF,
        "a.xlsx": make_sheets.xlsx({"One": _ROWS, "Two": _ROWS}),
        "a.ods": make_sheets.ods(
            make_sheets.ods_row("Name", "Age") + make_sheets.ods_row("A", "1")
        ),
        "old.xls": make_sheets.excel_4([["Name", "Age"], ["Ada", 36.0]]),
        "a.xls": make_mail.ole({"Workbook": make_sheets.excel_97_stream([["Name"], ["Ada"]])}),
        "a.eml": mail,
        "a.mbox": make_mail.mbox(mail, mail),
        "a.msg": make_mail.ole(item),
        "winmail.dat": packed,
        "a.epub": make_mail.epub({"one.xhtml": "<h1>One</h1><p>Words of a chapter.</p>"}),
        "a.zip": zip_of({"a.txt": b"one", "b/c.md": b"# two"}),
        "nested.zip": nested(2, {"a.txt": b"one"}),
        "a.tar": tar_of({"a.txt": b"one", "b.txt": b"two" * 200}),
        "a.tgz": tar_of({"a.txt": b"one", "b.txt": b"two" * 200}, mode="w:gz"),
        "a.txt.gz": gzip.compress(b"compressed text " * 20, mtime=0),
        "a.png": make_images.encoded(make_images.drawn("Words")),
        "a.jpg": make_images.encoded(make_images.drawn("Words"), "JPEG"),
        "a.tif": make_images.frames([make_images.drawn("One"), make_images.drawn("Two")]),
        "a.gif": make_images.encoded(make_images.drawn("Words"), "GIF"),
        "a.webp": make_images.encoded(make_images.drawn("Words"), "WEBP"),
        "a.bmp": make_images.encoded(make_images.drawn("Words"), "BMP"),
    }
