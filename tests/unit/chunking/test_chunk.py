from itertools import pairwise

import pytest

from ingest.chunking.chunk import chunk
from ingest.model import Page
from ingest.tokens.tokenizers import load_tokenizer
from tests.support.chunk_checks import CL100K, SENTENCE, assert_sound, cut, document


def test_a_short_document_is_one_chunk() -> None:
    text = "\n# Title\n\nSome text.\n\n## Part\n\n- a\n- b\n"

    [only] = chunk(document(text), tokenizer=CL100K, size=512, overlap=64)

    assert only.text == text.strip()
    assert only.headings == ("Title",)


@pytest.mark.parametrize("text", ["", " ", "\n\n\t\u3000"])
def test_a_blank_document_has_no_chunk(text: str) -> None:
    assert cut(text) == []


def test_a_chunk_starts_at_a_heading_where_it_can() -> None:
    text = "\n\n".join(f"## Part {number}\n\n{SENTENCE * 3}" for number in range(8))

    chunks = cut(text, size=64, overlap=8)

    assert len(chunks) == 8
    assert all(piece.startswith("## Part") for piece in chunks)


def test_the_higher_heading_is_the_better_place() -> None:
    part = SENTENCE * 2
    text = f"# A\n\n{part}\n\n# B\n\n{part}\n\n## C\n\n{part}\n\n{part}"

    first, *_ = cut(text, size=64)

    assert first == f"# A\n\n{part.strip()}"


def test_no_chunk_ends_with_a_heading() -> None:
    text = f"{SENTENCE * 4}\n\n# A\n\n## B\n\n{'word ' * 55}"

    chunks = cut(text, size=60)

    assert chunks[1].startswith("# A\n\n## B\n\nword")


def test_paragraphs_come_before_sentences_and_sentences_before_words() -> None:
    by_paragraph = cut(f"{SENTENCE * 3}\n\n{SENTENCE * 3}", size=64)
    by_sentence = cut(SENTENCE * 12, size=64)
    by_word = cut("word " * 200, size=64)

    assert by_paragraph == [(SENTENCE * 3).strip()] * 2
    assert all(piece.endswith("chunker.") for piece in by_sentence)
    assert set(" ".join(by_word).split()) == {"word"}


def test_chinese_is_cut_after_its_full_stops() -> None:
    chunks = cut("这是一个没有空格的句子。" * 40, size=64)

    assert all(piece.endswith("。") for piece in chunks)


@pytest.mark.parametrize("size", range(16, 24))
def test_combining_characters_are_not_split(size: int) -> None:
    accents = cut("x\u0301\u0302" * 100, size=size)
    families = cut("👩\u200d👩\u200d👧" * 50, size=size)

    assert all(piece.startswith("x") for piece in accents)
    assert all(piece.startswith("👩") and piece.endswith("👧") for piece in families)


def test_a_chunk_repeats_the_end_of_the_one_before() -> None:
    sentences = [f"Sentence number {number} says something new. " for number in range(40)]
    text = "".join(sentences)

    chunks = chunk(document(text), tokenizer=CL100K, size=64, overlap=16)

    assert_sound(text, chunks, tokenizer=CL100K, size=64)
    for before, after in pairwise(chunks):
        shared = text[after.start : before.end]
        assert 0 < CL100K.count(shared) <= 16
        assert shared.startswith("Sentence number")


def test_chunks_do_not_overlap_across_a_heading() -> None:
    text = f"# A\n\n{SENTENCE * 4}\n\n# B\n\n{SENTENCE * 4}"

    assert cut(text, size=64, overlap=32)[1].startswith("# B")


def test_last_chunk_is_not_tiny() -> None:
    words = "word " * 65  # one more than fits, and one more

    chunks = cut(words.strip(), size=64)

    assert len(chunks) == 2
    assert CL100K.count(chunks[1]) >= 8


def test_headings_and_pages_are_those_of_the_chunks_start() -> None:
    first = f"# Book\n\n{SENTENCE * 4}\n\n## One\n\n{SENTENCE * 8}\n\n"
    second = f"{SENTENCE * 4}\n\n```\n# no heading\n```\n\n## Two\n\n{SENTENCE * 8}"
    pages = (
        Page(number=3, start=0, end=len(first)),
        Page(number=4, start=len(first), end=len(first + second)),
    )

    chunks = chunk(document(first + second, pages), tokenizer=CL100K, size=64, overlap=0)

    assert chunks[0].headings == ("Book",)
    assert chunks[0].page == 3
    assert chunks[-1].headings == ("Book", "Two")
    assert chunks[-1].page == 4
    assert all(piece.page == (3 if piece.start < len(first) else 4) for piece in chunks)
    assert next(piece.headings for piece in chunks if piece.page == 4) == ("Book", "One")


def test_a_document_without_pages_has_chunks_without() -> None:
    [only] = chunk(document("text"), tokenizer=CL100K, size=64, overlap=0)

    assert only.page is None
    assert only.headings == ()


def test_the_special_tokens_of_the_model_are_within_the_limit() -> None:
    minilm = load_tokenizer("minilm")

    chunks = chunk(document("word " * 600), tokenizer=minilm, size=256, overlap=0)

    assert max(piece.token_count for piece in chunks) == 254


def test_unknown_words_do_not_make_a_huge_chunk() -> None:
    minilm = load_tokenizer("minilm")  # reads a hundred of these as one unknown word

    chunks = cut("😀" * 20_000, size=256, tokenizer=minilm)

    assert max(map(len, chunks)) <= 16 * 256


@pytest.mark.parametrize(("size", "overlap"), [(7, 0), (64, 33), (64, -1)])
def test_sizes_that_cannot_work_are_refused(size: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="tokens"):
        chunk(document("text"), tokenizer=CL100K, size=size, overlap=overlap)
