"""Packages that are bombs, damaged or hostile."""

import io
import zipfile

import pytest

from ingest.errors import Permanent
from ingest.formats.common.inflate_limit import PackageLimits, guard, guard_xml
from ingest.formats.registry import extract as extract_file
from ingest.model import Document
from tests.builders import make_files, make_office
from tests.builders.make_office import word

MIB = 1024 * 1024


def extract(data: bytes) -> Document:
    return extract_file(io.BytesIO(data), name="a.docx")


def refusal(data: bytes) -> str:
    with pytest.raises(Permanent) as caught:
        extract(data)
    return caught.value.code


def run(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


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


def test_part_with_extreme_compression_ratio_is_refused() -> None:
    data = make_files.docx_bomb(64 * MIB)

    assert len(data) < MIB
    assert refusal(data) == "archive_unsafe"


def test_inflation_stops_at_the_declared_size_and_is_reported() -> None:
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
        guard(io.BytesIO(many), PackageLimits(entries=49))

    assert caught.value.code == "archive_unsafe"


def test_all_parts_together_have_a_limit() -> None:
    parts = make_files.zipped({f"p{number}": bytes(range(256)) * 40 for number in range(10)})

    with pytest.raises(Permanent) as caught:
        guard(io.BytesIO(parts), PackageLimits(total=100_000))

    assert caught.value.code == "too_large"


def test_a_document_without_its_main_part_is_corrupt() -> None:
    data = make_files.zipped({"[Content_Types].xml": b"<Types/>", "word/other.xml": b"<x/>"})

    assert refusal(data) == "corrupt"


def test_broken_xml_is_corrupt() -> None:
    assert refusal(make_files.docx(extra={"word/document.xml": b"<w:document>"})) == "corrupt"


def test_an_encrypted_document_is_encrypted() -> None:
    assert refusal(make_files.encrypted_office()) == "encrypted"


def test_nested_embedded_documents_terminate() -> None:
    data = word(run("innermost"))
    for _ in range(6):
        data = word('<w:altChunk r:id="c.docx"/>' + run("x"), {"c.docx": ("aFChunk", data)})

    document = extract(data)

    assert document.text.split() == ["x", "x", "x", "x"]


def test_extremely_nested_tables_do_not_overflow_the_stack() -> None:
    body = "deep"
    for _ in range(60):
        body = f"<w:tbl><w:tr><w:tc>{run(body) if body == 'deep' else body}</w:tc></w:tr></w:tbl>"

    assert extract(word(body)).text == "deep"


def test_document_without_words_raises_no_text() -> None:
    assert refusal(make_files.docx([])) == "no_text"


def test_xml_part_with_too_many_tags_is_too_large() -> None:
    crowded = make_files.zipped({"word/document.xml": b'<w><a b="1"/><a b="2"/></w>'})

    with pytest.raises(Permanent) as caught:
        guard(io.BytesIO(crowded), PackageLimits(markup=5))

    assert caught.value.code == "too_large"
    guard(io.BytesIO(crowded), PackageLimits(markup=6))


def test_one_file_of_xml_has_the_same_limit() -> None:
    with pytest.raises(Permanent) as caught:
        guard_xml(b"<a b='1'/><a/>", PackageLimits(markup=2))

    assert caught.value.code == "too_large"


def test_an_embedded_text_that_is_referred_to_a_thousand_times_is_shown_once() -> None:
    data = make_office.word('<w:altChunk r:id="c.txt"/>' * 1000, {"c.txt": ("aFChunk", b"again")})

    assert extract(data).text == "again"


def test_deeply_nested_groups_and_lists_keep_their_text() -> None:
    slide = "<p:grpSp>" * 200 + make_office.shape("deep") + "</p:grpSp>" * 200
    item = "<text:list><text:list-item>"
    text = item * 100 + "<text:p>deep</text:p>" + "</text:list-item></text:list>" * 100

    presentation = extract_file(io.BytesIO(make_office.presentation(slide)), name="a.pptx")
    document = extract_file(io.BytesIO(make_office.open_document(text)), name="a.odt")

    assert (presentation.text, document.text) == ("## Slide 1\n\ndeep", "- deep")


def test_a_package_of_another_compression_is_not_inflated() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_BZIP2) as package:
        package.writestr("word/document.xml", bytes(MIB))

    assert refusal(packed.getvalue()) == "archive_unsafe"
