"""What a parser that was taken over by a file answers is refused, field by field."""

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.errors import Permanent
from ingest.sandbox.messages import (
    Parsed,
)
from ingest.sandbox.protocol import (
    LENGTH,
    encode_failure,
)
from ingest.sandbox.replies import decode_note, decode_reply
from ingest.sandbox.reply_checks import BadFrame
from tests.unit.sandbox.parser_frames import (
    COVERAGE,
    WEB,
    failure,
    forged,
)


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
        decode_reply(frame, number=3)


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
        decode_reply(frame, number=3)


@given(st.binary(max_size=200))
def test_random_bytes_are_refused_by_the_protocol(noise: bytes) -> None:
    with pytest.raises(BadFrame):
        decode_reply(noise, number=3)


def test_a_message_that_quotes_the_file_is_made_storable() -> None:
    error = Permanent("This is \ud800a file\0 of type\n\x01x.", code="unsupported_type")

    result = decode_reply(
        encode_failure(error, resident=1, number=3)[LENGTH.size :], number=3
    ).result

    assert isinstance(result, Permanent)
    assert str(result) == "This is a file of type x."


def test_a_few_bytes_cannot_stand_for_endless_chunks() -> None:
    text = "x" * 1_000_000
    row = [1, 1, len(text), [], None, None, None, [0, len(text)], "", "", []]
    # A range that is invalid must not make up for the others.
    rows = [[ordinal, *row] for ordinal in range(1000)] + [[1000, 1, 10**12, 0, *row[3:]]]

    with pytest.raises(BadFrame, match="chunks that are longer"):
        decode_reply(forged(text=text, pages=[], chunks=rows), number=3)


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
        decode_reply(forged(**changes), number=3)


def test_a_large_text_is_no_attack() -> None:
    text = "It has words. " * 200_000

    reply = decode_reply(forged(text=text, pages=[]), number=3)

    assert isinstance(reply.result, Parsed)
    assert reply.result.document.text == text


def test_failed_steps_cannot_flood_the_log() -> None:
    step = {"step": "headings", "cause": "x", "times": 1}

    with pytest.raises(BadFrame):
        decode_reply(forged(skipped_steps=[step] * 1000), number=3)


def test_deeply_nested_metadata_is_a_bad_frame() -> None:
    nested = b'{"\\u0000":' * 400 + b"1" + b"}" * 400
    frame = forged(metadata={"nested": "HERE"}).replace(b'"HERE"', nested)

    def below(levels: int) -> None:
        if levels:
            below(levels - 1)
        else:
            decode_reply(frame, number=3)

    with pytest.raises(BadFrame):
        below(sys.getrecursionlimit() - 600)
