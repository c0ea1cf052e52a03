"""A parsed file as it travels, and frames made wrong on purpose."""

from dataclasses import asdict
from typing import Any

import orjson

from ingest.errors import Permanent
from ingest.model import (
    Chunk,
    Coverage,
    Document,
    Encoding,
    Member,
    Page,
    WebPage,
)
from ingest.page_words import PageWords
from ingest.sandbox.messages import (
    Parsed,
)
from ingest.sandbox.protocol import (
    LENGTH,
    encode_answer,
    encode_failure,
)

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
    data = orjson.loads(body(encode_answer(PARSED, resident=1, number=3)))
    for name, value in changes.items():
        (data["document"] if name in data["document"] else data)[name] = value
    return orjson.dumps(data)


def failure(**changes: Any) -> bytes:
    """A good failure with other fields."""
    frame = body(encode_failure(Permanent("why", code="corrupt"), resident=1, number=3))
    return orjson.dumps({**orjson.loads(frame), **changes})
