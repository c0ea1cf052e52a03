"""Words of recognised pages are kept in few bytes, and read back whoever wrote them."""

import zlib

import pytest

from ingest.page_words import MOST_WORDS, Recognised, Word, pack, unpack

WORDS = [Word("Grüße", (0.0, 0.25, 0.5, 1.0)), Word("高さ", (0.1, 0.2, 0.3, 0.4))]


def test_words_are_read_back_with_their_places() -> None:
    packed = pack(WORDS)

    assert packed is not None
    for word, read in zip(WORDS, unpack(packed), strict=True):
        assert read.text == word.text
        assert read.box == pytest.approx(word.box, abs=1e-4)


def test_places_outside_the_page_are_moved_to_its_edge() -> None:
    packed = pack([Word("skewed\nline", (-0.5, 0.1, 1.5, 0.2))])

    assert packed is not None
    [(text, box)] = unpack(packed)
    assert (text, box[0], box[2]) == ("skewed line", 0.0, 1.0)


def test_nothing_is_packed_as_nothing_and_too_many_are_cut() -> None:
    assert pack(Recognised("text without places").words) is None
    packed = pack([Word("a", (0, 0, 1, 1))] * (MOST_WORDS + 1))
    assert packed is not None
    assert len(unpack(packed)) == MOST_WORDS


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no zlib",
        zlib.compress(b""),
        zlib.compress(b"\xff\xff\xff\xff"),
        zlib.compress(b"\x02\0\0\0" + bytes(7)),
        zlib.compress(b"\x02\0\0\0" + bytes(16) + b"one text"),
        zlib.compress(bytes(20_000_000), 1),
    ],
)
def test_bytes_that_are_no_words_are_refused(data: bytes) -> None:
    try:
        assert len(unpack(data)) <= MOST_WORDS
    except ValueError:
        return
    assert len(data) > 1000  # a bomb is cut, and is then a page without words
