"""Word documents: structure, odd parts, bombs."""

import io
import zipfile

import pytest

from ingest.errors import Permanent
from ingest.model import Document
from ingest.pipeline.extract.archive import Limits, guard
from ingest.pipeline.extract.registry import extract as extract_file
from tests import make_files

MIB = 1024 * 1024


def extract(data: bytes) -> Document:
    return extract_file(io.BytesIO(data), name="a.docx")


def refusal(data: bytes) -> str:
    with pytest.raises(Permanent) as caught:
        extract(data)
    return caught.value.code


def run(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def test_headings_and_paragraphs_become_markdown() -> None:
    document = extract(make_files.docx(["One.", "Two."], heading="Head", title="Its title"))

    assert document.text.strip() == "# Head\n\nOne.\n\nTwo."
    assert document.title == "Its title"


def test_tables_become_markdown_tables() -> None:
    row = "<w:tr>{}</w:tr>"
    cell = "<w:tc>{}</w:tc>"
    rows = [row.format("".join(cell.format(run(text)) for text in texts)) for texts in ("AB", "CD")]

    document = extract(make_files.docx(body=f"<w:tbl>{''.join(rows)}</w:tbl>"))

    assert "| A | B |" in document.text
    assert "| C | D |" in document.text


def test_deleted_text_stays_deleted_and_inserted_text_counts() -> None:
    body = (
        "<w:p><w:del><w:r><w:delText>removed</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>added</w:t></w:r></w:ins></w:p>"
    )

    document = extract(make_files.docx(body=body))

    assert "added" in document.text
    assert "removed" not in document.text


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


def test_an_external_entity_is_never_read() -> None:
    document = (
        '<?xml version="1.0"?><!DOCTYPE d [<!ENTITY leak SYSTEM "file:///etc/hostname">]>'
        '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        f"<w:body>{run('before &leak; after')}</w:body></w:document>"
    ).encode()
    with open("/etc/hostname") as file:
        secret = file.read().strip()

    try:
        text = extract(make_files.docx(extra={"word/document.xml": document})).text
    except Permanent as error:
        text = str(error)

    assert secret not in text


def test_an_external_entity_in_the_properties_is_never_read() -> None:
    core = (
        b'<?xml version="1.0"?><!DOCTYPE d [<!ENTITY leak SYSTEM "file:///etc/passwd">]>'
        b'<p xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>&leak;</dc:title></p>'
    )

    document = extract(make_files.docx(extra={"docProps/core.xml": core}))

    assert document.title is None


def test_entities_that_multiply_are_refused() -> None:
    entities = "".join(f'<!ENTITY e{level} "{f"&e{level - 1};" * 10}">' for level in range(1, 12))
    document = (
        f'<?xml version="1.0"?><!DOCTYPE d [<!ENTITY e0 "lol">{entities}]>'
        '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        f"<w:body>{run('&e11;')}</w:body></w:document>"
    ).encode()

    assert refusal(make_files.docx(extra={"word/document.xml": document})) == "corrupt"


def test_a_part_that_inflates_beyond_reason_is_a_bomb() -> None:
    data = make_files.docx_bomb(64 * MIB)

    assert len(data) < MIB
    assert refusal(data) == "archive_unsafe"


def test_no_more_is_inflated_than_the_header_says_and_the_loss_is_told() -> None:
    styles = f"<w:styles xmlns:w='urn:w'>{'<w:style/>' * 9000}</w:styles>".encode()
    honest = make_files.docx(extra={"word/styles.xml": styles})
    lie = honest.replace(len(styles).to_bytes(4, "little"), (1000).to_bytes(4, "little"))

    document = extract(lie)

    assert lie != honest
    assert "parts_unreadable" in document.warnings
    assert document.metadata["unreadableParts"] == ["word/styles.xml"]


def test_too_many_parts_are_unsafe() -> None:
    many = make_files.zipped({f"p{number}": b"" for number in range(50)})

    with pytest.raises(Permanent) as caught:
        guard(io.BytesIO(many), Limits(entries=49))

    assert caught.value.code == "archive_unsafe"


def test_all_parts_together_have_a_limit() -> None:
    parts = make_files.zipped({f"p{number}": bytes(range(256)) * 40 for number in range(10)})

    with pytest.raises(Permanent) as caught:
        guard(io.BytesIO(parts), Limits(total=100_000))

    assert caught.value.code == "too_large"


def test_a_document_without_its_main_part_is_corrupt() -> None:
    data = make_files.zipped({"[Content_Types].xml": b"<Types/>", "word/other.xml": b"<x/>"})

    assert refusal(data) == "corrupt"


def test_broken_xml_is_corrupt() -> None:
    assert refusal(make_files.docx(extra={"word/document.xml": b"<w:document>"})) == "corrupt"


def test_an_encrypted_document_is_encrypted() -> None:
    assert refusal(make_files.encrypted_office()) == "encrypted"


def test_a_document_without_words_is_no_text() -> None:
    assert refusal(make_files.docx([])) == "no_text"


def test_pictures_leave_their_alternative_text_and_no_data() -> None:
    drawing = "http://schemas.openxmlformats.org/drawingml/2006"
    picture = (
        f'<w:p><w:r><w:drawing xmlns:a="{drawing}/main" xmlns:pic="{drawing}/picture"'
        f' xmlns:wp="{drawing}/wordprocessingDrawing"><wp:inline><wp:docPr id="1" name="n"'
        ' descr="A duck on a pond"/><a:graphic><a:graphicData><pic:pic><pic:blipFill>'
        '<a:blip r:embed="rId9"/></pic:blipFill></pic:pic></a:graphicData></a:graphic>'
        "</wp:inline></w:drawing></w:r></w:p>"
    )
    data = make_files.docx(
        body=picture,
        extra={
            "word/_rels/document.xml.rels": make_files.docx_relation("image", "media/duck.png"),
            "word/media/duck.png": make_files.png(),
        },
    )

    text = extract(data).text

    assert "A duck on a pond" in text
    assert "data:" not in text
