"""What a child answers is checked field by field: it may have been taken over by a file."""

import sys
from base64 import b64encode
from dataclasses import asdict, replace
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from ingest.errors import IsArchive, Permanent, Transient
from ingest.model import (
    Chunk,
    ChunkSettings,
    Coverage,
    Document,
    Encoding,
    Member,
    OcrSettings,
    Page,
    Sitemap,
    WebPage,
)
from ingest.page_words import PageWords
from ingest.sandbox.messages import (
    MOST_BOXES,
    Located,
    LocateRequest,
    Parsed,
    ParseRequest,
    Rechunked,
    RechunkRequest,
    Rendered,
    RenderRequest,
    Reply,
    Request,
    SitemapRead,
    Unpacked,
    UnpackRequest,
)
from ingest.sandbox.protocol import (
    LENGTH,
    decode_request,
    encode_answer,
    encode_failure,
    encode_request,
)
from ingest.sandbox.replies import decode_note, decode_reply
from ingest.sandbox.reply_checks import BadFrame
from tests.builders.make_images import encoded

DOCUMENT = Document(
    text="First page.\n\nSecond, with ünïcödé and \\u0000 in words.",
    media_type="application/pdf",
    extractor="test 1",
    title="A title",
    encoding=Encoding(name="utf-8", confidence=1.0, replaced=2),
    pages=(Page(number=1, start=0, end=11), Page(number=2, start=13, end=30)),
    coverage=Coverage(pages=9, with_text=2, empty=3, failed=3, unread=1, by_ocr=1, lost=(4, 7)),
    metadata={"author": "A", "nested": {"list": [1, 2.5, None, True]}},
    warnings=("type_mismatch",),
    web=WebPage(
        links=("https://example.org/a", "http://example.org/"),
        canonical="https://example.org/b",
        index=False,
        follow=True,
        is_cut=True,
    ),
    page_words=(PageWords(page=1, packed=b"\0packed\xff"), PageWords(page=3, packed=b"more")),
)
WEB = asdict(DOCUMENT)["web"]
COVERAGE = asdict(DOCUMENT)["coverage"]
CHUNKS = [
    Chunk(
        ordinal=0, text=DOCUMENT.text[:11], token_count=3, start=0, end=11, page=1, page_end=1,
        section=(0, 11),
    ),
    Chunk(
        ordinal=1, text=DOCUMENT.text[13:], token_count=9, start=13, end=len(DOCUMENT.text),
        headings=("A", "B"), page=2, page_end=3, section=(13, 40),
        sections=((15, 1, "C"), (17, 0, "")),
    ),
    Chunk(
        ordinal=2, text=DOCUMENT.text[:5] + DOCUMENT.text[13:20], token_count=9, start=13, end=20,
        repeated_header=(0, 5), section=(0, 20),
    ),
]  # fmt: skip
MEMBERS = (
    Member(path="folder/a.txt", file="0"),
    Member(path="b.pdf", file="", code="encrypted", message="It has a password."),
)
PARSED = Parsed(
    document=DOCUMENT, chunks=CHUNKS, extract_seconds=0.5, chunk_seconds=1.0, members=MEMBERS
)


def body(frame: bytes) -> bytes:
    assert len(frame) == LENGTH.size + LENGTH.unpack(frame[: LENGTH.size])[0]
    return frame[LENGTH.size :]


def forged(**changes: Any) -> bytes:
    """A good answer with other fields, of the document or around it."""
    data = orjson.loads(body(encode_answer(PARSED, resident=1)))
    for name, value in changes.items():
        (data["document"] if name in data["document"] else data)[name] = value
    return orjson.dumps(data)


def failure(**changes: Any) -> bytes:
    """A good failure with other fields."""
    frame = body(encode_failure(Permanent("why", code="corrupt"), resident=1))
    return orjson.dumps({**orjson.loads(frame), **changes})


def test_parsed_file_survives_the_protocol() -> None:
    frame = encode_answer(PARSED, resident=7)

    assert decode_reply(body(frame)) == Reply(result=PARSED, resident=7)


def test_file_without_optional_fields_survives_the_protocol() -> None:
    plain = replace(DOCUMENT, title=None, encoding=None, pages=(), web=None)
    bare = replace(PARSED, document=plain)

    assert decode_reply(body(encode_answer(bare, resident=7))).result == bare


def test_a_sitemap_survives_the_protocol_only_with_web_addresses() -> None:
    found = SitemapRead(sitemap=Sitemap(pages=("https://example.org/a",), is_cut=True))
    frame = body(encode_answer(found, resident=7))

    assert decode_reply(frame).result == found
    with pytest.raises(BadFrame):
        decode_reply(frame.replace(b"https://example.org/a", b"file:///etc/passwd"))


def test_a_page_cannot_be_made_to_lead_to_a_file() -> None:
    with pytest.raises(BadFrame):
        decode_reply(forged(web={**WEB, "refresh": "file:///etc/passwd"}))
    with pytest.raises(BadFrame):
        decode_reply(forged(web={**WEB, "placeholder": "unknown"}))


def test_archive_members_survive_the_protocol() -> None:
    unpacked = Unpacked(members=MEMBERS, skipped={"link": 2})

    assert decode_reply(body(encode_answer(unpacked, resident=7))).result == unpacked


def answer_with(answer: Rendered | Located, **changes: Any) -> bytes:
    return orjson.dumps({**orjson.loads(body(encode_answer(answer, resident=7))), **changes})


def png(width: int, height: int) -> bytes:
    return encoded(Image.new("L", (width, height)))


def test_a_picture_survives_the_protocol_only_if_it_is_a_png_of_its_size() -> None:
    drawn = Rendered(png=png(3, 2), width=3, height=2)

    assert decode_reply(answer_with(drawn)).result == drawn
    for lie in (
        {"width": 4},
        {"png": b64encode(b"<svg onload=alert(1)>").decode()},
        {"png": b64encode(png(9000, 1)).decode(), "width": 9000, "height": 1},
        {"png": b64encode(png(3, 2)[:16]).decode()},
        {"png": 1},
    ):
        with pytest.raises(BadFrame):
            decode_reply(answer_with(drawn, **lie))


@pytest.mark.parametrize(
    "box",
    [[0.2, 0, 0.1, 1], [0, 0, 1.5, 1], [-1, 0, 1, 1], [0, 0.5, 1, 0.4], ["0", 0, 1, 1], [0, 1]],
)
def test_places_survive_the_protocol_only_on_the_page(box: list[Any]) -> None:
    found = Located(width=600, height=800, places=(((0.1, 0.2, 0.3, 0.4),), ()), has_words=True)

    assert decode_reply(answer_with(found)).result == found
    for lie in ([[box]], [[[0, 0, 1, 1]] * (MOST_BOXES + 1)]):
        with pytest.raises(BadFrame):
            decode_reply(answer_with(found, places=lie))


def test_words_of_a_page_survive_the_protocol() -> None:
    request = LocateRequest(
        media_type="application/pdf", page=2, text="é", ranges=((0, 1),), words=b"\0\xff"
    )

    _, read = decode_request(body(encode_request(request, cpu_seconds=1)))

    assert isinstance(read, LocateRequest)
    assert (read.words, read.text) == (request.words, request.text)


def test_chunks_of_a_sent_text_are_returned_as_slices() -> None:
    rechunked = Rechunked(chunks=CHUNKS, language="en")

    frame = encode_answer(rechunked, resident=7)

    assert decode_reply(body(frame), text=DOCUMENT.text).result == rechunked


CUT = ChunkSettings(tokenizer="minilm", size=256, overlap=32, by="row")
OCR = OcrSettings(engine="tesseract", languages=("deu",), page_timeout=3.0)


@pytest.mark.parametrize(
    "request_",
    [
        ParseRequest(name="a", declared=None, max_pages=5, chunk=CUT),
        ParseRequest(
            name="a", declared="text/html", max_pages=5, chunk=CUT, url="https://example.org/a",
            members="/tmp/folder", ocr=OCR,
        ),
        UnpackRequest(name="a", folder="/tmp/f", max_members=5, max_bytes=6, max_member_bytes=7),
        RechunkRequest(pages=DOCUMENT.pages, chunk=CUT),
        RenderRequest(media_type="application/pdf", page=2, width=640),
    ],
)  # fmt: skip
def test_request_survives_the_protocol(request_: Request) -> None:
    frame = encode_request(request_, cpu_seconds=2.5)

    assert decode_request(body(frame)) == (2.5, request_)


@pytest.mark.parametrize("kind", [Permanent, Transient])
def test_a_failure_keeps_its_kind_and_code(kind: type[Permanent] | type[Transient]) -> None:
    result = decode_reply(body(encode_failure(kind("why", code="corrupt"), resident=7))).result

    assert type(result) is kind
    assert (str(result), result.code) == ("why", "corrupt")


def test_is_archive_survives_the_protocol() -> None:
    result = decode_reply(body(encode_failure(IsArchive("a ZIP"), resident=7))).result

    assert isinstance(result, IsArchive)
    assert str(result) == "a ZIP"


@pytest.mark.parametrize("frame", [b'{"stage": "store"}', b'{"stage": 1}', b'{"stage":'])
def test_invalid_progress_note_is_refused(frame: bytes) -> None:
    with pytest.raises(BadFrame):
        decode_note(frame)


@pytest.mark.parametrize(
    "changes",
    [
        {"text": 5},
        {"text": None},
        {"text": "a\0b", "pages": [], "chunks": []},
        {"metadata": {"key\0": 1}},
        {"metadata": []},
        {"title": 1},
        {"encoding": {"name": "utf-8", "confidence": "high", "replaced": 0}},
        {"pages": [{"number": 1, "start": 5, "end": 3}]},
        {"pages": [{"number": 1, "start": 0, "end": 9_999}]},
        {"coverage": {"pages": 1}},
        {"coverage": {**COVERAGE, "pages": True}},
        {"coverage": {**COVERAGE, "lost": ["one"]}},
        {"warnings": [1]},
        {"web": []},
        {"web": {**WEB, "links": "https://example.org/"}},
        {"web": {**WEB, "links": [1]}},
        {"web": {**WEB, "links": ["javascript:alert(1)"]}},
        {"web": {**WEB, "links": ["http://example.org/" + "a" * 2048]}},
        {"web": {**WEB, "links": ["http://example.org/"] * 2}},
        {"web": {**WEB, "links": [f"http://example.org/{n}" for n in range(5001)]}},
        {"web": {**WEB, "canonical": "file:///etc/passwd"}},
        {"web": {**WEB, "canonical": 1}},
        {"web": {**WEB, "index": 1}},
        {"web": {**WEB, "follow": None}},
        {"web": {**WEB, "is_cut": 1}},
        {"chunks": [[0, 1, 0, 9_999, [], None, None, None, None]]},
        {"chunks": [[0, 1, 3, 3, [], None, None, None, None]]},
        {"chunks": [[0, 1, -5, 3, [], None, None, None, None]]},
        {"chunks": [[1, 1, 0, 3, [], None, None, None, None]]},
        {"chunks": [[0, -1, 0, 3, [], None, None, None, None]]},
        {"chunks": [[0, 1.5, 0, 3, [], None, None, None, None]]},
        {"chunks": [[0, 1, 0, 3, [1], None, None, None, None]]},
        {"chunks": [[0, 1, 0, 3, [], "one", None, None, None]]},
        {"chunks": [[0, 1, 0, 3, [], 1, "two", None, None]]},
        {"chunks": [[0, 1, 0, 3, [], 1, None, None, None]]},
        {"chunks": [[0, 1, 0, 3, [], 2, 1, None, None]]},
        {"chunks": [[0, 1]]},
        {"chunks": [[0, 1, 3, 5, [], None, None, [4, 3], None]]},
        {"chunks": [[0, 1, 3, 5, [], None, None, [0, 4], None]]},
        {"chunks": [[0, 1, 3, 5, [], None, None, [0], None]]},
        {"chunks": [[0, 1, 3, 5, [], None, None, None, [0, 9_999]]]},
        {"chunks": [[0, 1, 3, 5, [], None, None, None, [True, 5]]]},
        {"page_words": [{"page": 0, "packed": "eA=="}]},
        {"page_words": [{"page": 1, "packed": "no base64"}]},
        {"page_words": [{"page": 1, "packed": "eA=="}] * 2},
        {"page_words": [{"page": 1, "packed": "eHh4" * 200_000}]},
        {"members": {}},
        {"members": [{"path": "a", "file": "../a", "code": None, "message": None}]},
        {"members": [{"path": "../a", "file": "1", "code": None, "message": None}]},
        {"members": [{"path": "/a", "file": "1", "code": None, "message": None}]},
        {"members": [{"path": "a", "file": "", "code": None, "message": None}]},
        {"members": [{"path": "a", "file": "", "code": "made_up", "message": None}]},
        {"members": [{"path": "a", "file": "1", "code": "corrupt", "message": None}]},
        {"members": [{"path": "a", "file": n, "code": None, "message": None} for n in "12"]},
        {"chunks": {}},
        {"extract_seconds": "long"},
        {"resident": None},
    ],
)
def test_invalid_reply_field_is_refused(changes: dict[str, Any]) -> None:
    frame = forged(**changes)

    with pytest.raises(BadFrame):
        decode_reply(frame)


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"[1]",
        b"{}",
        failure(code="made_up"),
        failure(message=1),
        failure(message="m").replace(b'"m"', b'"\\ud800"'),
    ],
)
def test_an_answer_of_no_known_kind_is_refused(frame: bytes) -> None:
    with pytest.raises(BadFrame):
        decode_reply(frame)


@given(st.binary(max_size=200))
def test_random_bytes_are_refused_by_the_protocol(noise: bytes) -> None:
    with pytest.raises(BadFrame):
        decode_reply(noise)


def test_a_message_that_quotes_the_file_is_made_storable() -> None:
    error = Permanent("This is \ud800a file\0 of type\n\x01x.", code="unsupported_type")

    result = decode_reply(encode_failure(error, resident=1)[LENGTH.size :]).result

    assert isinstance(result, Permanent)
    assert str(result) == "This is a file of type x."


def test_a_few_bytes_cannot_stand_for_endless_chunks() -> None:
    text = "x" * 1_000_000
    row = [1, 1, len(text), [], None, None, None, [0, len(text)], "", "", []]
    # A range that is invalid must not make up for the others.
    rows = [[ordinal, *row] for ordinal in range(1000)] + [[1000, 1, 10**12, 0, *row[3:]]]

    with pytest.raises(BadFrame, match="chunks that are longer"):
        decode_reply(forged(text=text, pages=[], chunks=rows))


@pytest.mark.parametrize(
    "changes",
    [
        {"metadata": {"a": [[]] * 800_000}},
        {"warnings": ["w" * 1000] * 70_000},
        {"chunks": [[0, 1, 0, 1, ["heading " * 100] * 90_000, *[None] * 4, "", "", []]]},
    ],
)
def test_an_answer_is_not_larger_than_what_its_text_explains(changes: dict[str, Any]) -> None:
    with pytest.raises(BadFrame, match="more than fits its text"):
        decode_reply(forged(**changes))


def test_a_large_text_is_no_attack() -> None:
    text = "It has words. " * 200_000

    reply = decode_reply(forged(text=text, pages=[]))

    assert isinstance(reply.result, Parsed)
    assert reply.result.document.text == text


def test_failed_steps_cannot_flood_the_log() -> None:
    step = {"step": "headings", "cause": "x", "times": 1}

    with pytest.raises(BadFrame):
        decode_reply(forged(skipped_steps=[step] * 1000))


def test_deeply_nested_metadata_is_a_bad_frame() -> None:
    nested = b'{"\\u0000":' * 400 + b"1" + b"}" * 400
    frame = forged(metadata={"nested": "HERE"}).replace(b'"HERE"', nested)

    def below(levels: int) -> None:
        if levels:
            below(levels - 1)
        else:
            decode_reply(frame)

    with pytest.raises(BadFrame):
        below(sys.getrecursionlimit() - 600)
