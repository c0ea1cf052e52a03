"""What a child answers is checked field by field: it may have been taken over by a file."""

from base64 import b64encode
from dataclasses import replace
from typing import Any

import orjson
import pytest
from PIL import Image

from ingest.errors import IsArchive, Permanent, Transient
from ingest.model import (
    ChunkSettings,
    OcrSettings,
    Sitemap,
)
from ingest.sandbox.messages import (
    MOST_BOXES,
    Located,
    LocateRequest,
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
    decode_request,
    encode_answer,
    encode_failure,
    encode_request,
)
from ingest.sandbox.replies import decode_reply
from ingest.sandbox.reply_checks import BadFrame
from tests.builders.make_images import encoded
from tests.unit.sandbox.parser_frames import CHUNKS, DOCUMENT, MEMBERS, PARSED, WEB, body, forged


def test_parsed_file_survives_the_protocol() -> None:
    frame = encode_answer(PARSED, resident=7, number=3)

    assert decode_reply(body(frame), number=3) == Reply(result=PARSED, resident=7)


def test_file_without_optional_fields_survives_the_protocol() -> None:
    plain = replace(DOCUMENT, title=None, encoding=None, pages=(), web=None)
    bare = replace(PARSED, document=plain)

    assert decode_reply(body(encode_answer(bare, resident=7, number=3)), number=3).result == bare


def test_a_sitemap_survives_the_protocol_only_with_web_addresses() -> None:
    found = SitemapRead(sitemap=Sitemap(pages=("https://example.org/a",), is_cut=True))
    frame = body(encode_answer(found, resident=7, number=3))

    assert decode_reply(frame, number=3).result == found
    with pytest.raises(BadFrame):
        decode_reply(frame.replace(b"https://example.org/a", b"file:///etc/passwd"), number=3)


def test_a_page_cannot_be_made_to_lead_to_a_file() -> None:
    with pytest.raises(BadFrame):
        decode_reply(forged(web={**WEB, "refresh": "file:///etc/passwd"}), number=3)
    with pytest.raises(BadFrame):
        decode_reply(forged(web={**WEB, "placeholder": "unknown"}), number=3)


def test_archive_members_survive_the_protocol() -> None:
    unpacked = Unpacked(members=MEMBERS, skipped={"link": 2})

    assert (
        decode_reply(body(encode_answer(unpacked, resident=7, number=3)), number=3).result
        == unpacked
    )


def answer_with(answer: Rendered | Located, **changes: Any) -> bytes:
    return orjson.dumps(
        {**orjson.loads(body(encode_answer(answer, resident=7, number=3))), **changes}
    )


def png(width: int, height: int) -> bytes:
    return encoded(Image.new("L", (width, height)))


def test_a_picture_survives_the_protocol_only_if_it_is_a_png_of_its_size() -> None:
    drawn = Rendered(png=png(3, 2), width=3, height=2)

    assert decode_reply(answer_with(drawn), number=3).result == drawn
    for lie in (
        {"width": 4},
        {"png": b64encode(b"<svg onload=alert(1)>").decode()},
        {"png": b64encode(png(9000, 1)).decode(), "width": 9000, "height": 1},
        {"png": b64encode(png(3, 2)[:16]).decode()},
        {"png": 1},
    ):
        with pytest.raises(BadFrame):
            decode_reply(answer_with(drawn, **lie), number=3)


@pytest.mark.parametrize(
    "box",
    [[0.2, 0, 0.1, 1], [0, 0, 1.5, 1], [-1, 0, 1, 1], [0, 0.5, 1, 0.4], ["0", 0, 1, 1], [0, 1]],
)
def test_places_survive_the_protocol_only_on_the_page(box: list[Any]) -> None:
    found = Located(width=600, height=800, places=(((0.1, 0.2, 0.3, 0.4),), ()), has_words=True)

    assert decode_reply(answer_with(found), number=3).result == found
    for lie in ([[box]], [[[0, 0, 1, 1]] * (MOST_BOXES + 1)]):
        with pytest.raises(BadFrame):
            decode_reply(answer_with(found, places=lie), number=3)


def test_words_of_a_page_survive_the_protocol() -> None:
    request = LocateRequest(
        media_type="application/pdf", page=2, text="é", ranges=((0, 1),), words=b"\0\xff"
    )

    _, _, read = decode_request(body(encode_request(request, cpu_seconds=1, number=3)))

    assert isinstance(read, LocateRequest)
    assert (read.words, read.text) == (request.words, request.text)


def test_chunks_of_a_sent_text_are_returned_as_slices() -> None:
    rechunked = Rechunked(chunks=CHUNKS, language="en")

    frame = encode_answer(rechunked, resident=7, number=3)

    assert decode_reply(body(frame), text=DOCUMENT.text, number=3).result == rechunked


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
        LocateRequest(media_type="image/png", page=1, text="ä", ranges=((0, 1),), words=b"\xff"),
    ],
)  # fmt: skip
def test_request_survives_the_protocol(request_: Request) -> None:
    frame = encode_request(request_, cpu_seconds=2.5, number=3)

    assert decode_request(body(frame)) == (3, 2.5, request_)


@pytest.mark.parametrize(
    "request_",
    [
        ParseRequest(name="ä\udce4.txt", declared=None, max_pages=5, chunk=CUT),
        UnpackRequest(
            name="ä\udce4.txt", folder="/tmp/f", max_members=5, max_bytes=6, max_member_bytes=7
        ),
    ],
)
def test_names_that_are_no_unicode_are_sent_all_the_same(
    request_: ParseRequest | UnpackRequest,
) -> None:
    _, _, decoded = decode_request(body(encode_request(request_, cpu_seconds=1, number=3)))

    assert decoded == replace(request_, name="ä?.txt")


@pytest.mark.parametrize("kind", [Permanent, Transient])
def test_a_failure_keeps_its_kind_and_code(kind: type[Permanent] | type[Transient]) -> None:
    result = decode_reply(
        body(encode_failure(kind("why", code="corrupt"), resident=7, number=3)), number=3
    ).result

    assert type(result) is kind
    assert (str(result), result.code) == ("why", "corrupt")


def test_is_archive_survives_the_protocol() -> None:
    result = decode_reply(
        body(encode_failure(IsArchive("a ZIP"), resident=7, number=3)), number=3
    ).result

    assert isinstance(result, IsArchive)
    assert str(result) == "a ZIP"
