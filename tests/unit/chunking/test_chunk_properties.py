"""What is true of the chunks of any text."""

import base64
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.chunking.chunk import chunk
from ingest.chunking.structure_reader import read_structure
from ingest.model import ChunkBy, Page
from ingest.tokens.tokenizers import load_tokenizer
from tests.support.chunk_checks import SENTENCE, CountingTokenizer, assert_sound, document, rows_cut

NAMES = ("minilm", "cl100k_base", "wordllama")
BY: tuple[ChunkBy, ...] = ("heading", "page", "row", "size")
sizes = st.integers(16, 80)
eighths = st.integers(0, 8)

lines = st.sampled_from(
    [
        "# One",
        "## Two",
        "Title",
        "=====",
        "```",
        "| a | b |",
        "|---|---|",
        "| some words | and | some more |",
        "a | b",
        "- item",
        "  - nested item with more words",
        "1. first",
        "- key: value; other: another value",
        "<!--",
        "-->",
        "",
        "",
        "   ",
        SENTENCE * 2,
        "word " * 12,
        "x" * 90,
        "中文没有空格。" * 9,
        "😀👩‍👩‍👧" * 8,
        "e\u0301 \u200b\x0c.\t!",
        "ภาษาไทย" * 6,
    ]
)
documents = st.lists(lines | st.text(max_size=30), max_size=25).map("\n".join)


@settings(max_examples=60)
@given(documents, st.sampled_from(NAMES), sizes, eighths, st.sampled_from(BY))
def test_chunks_are_exact_within_the_limit_and_cover_the_text(
    text: str, name: str, size: int, eighths: int, by: ChunkBy
) -> None:
    tokenizer = load_tokenizer(name)
    overlap = size * eighths // 16

    chunks = chunk(document(text), tokenizer=tokenizer, size=size, overlap=overlap, by=by)

    assert_sound(text, chunks, tokenizer=tokenizer, size=size)


@settings(max_examples=60)
@given(documents, st.sampled_from(NAMES), sizes, eighths, st.sampled_from(BY))
def test_no_row_is_cut_that_fits_a_chunk(
    text: str, name: str, size: int, eighths: int, by: ChunkBy
) -> None:
    tokenizer = load_tokenizer(name)
    overlap = size * eighths // 16

    chunks = chunk(document(text), tokenizer=tokenizer, size=size, overlap=overlap, by=by)

    assert rows_cut(text, chunks, tokenizer=tokenizer, size=size) == []


@settings(max_examples=40)
@given(st.lists(documents, max_size=4), sizes, eighths)
def test_by_page_no_chunk_is_on_two_pages(texts: list[str], size: int, eighths: int) -> None:
    text = ""
    pages = []
    for number, page in enumerate(texts, start=1):
        pages.append(Page(number=number, start=len(text), end=len(text + page)))
        text += page + "\n\n"
    tokenizer = load_tokenizer("cl100k_base")
    overlap = size * eighths // 16

    chunks = chunk(
        document(text, tuple(pages)), tokenizer=tokenizer, size=size, overlap=overlap, by="page"
    )

    assert_sound(text, chunks, tokenizer=tokenizer, size=size)
    assert not [piece for piece in chunks for page in pages if piece.start < page.start < piece.end]


@settings(max_examples=40)
@given(documents, sizes)
def test_by_row_no_chunk_has_two_rows(text: str, size: int) -> None:
    tokenizer = load_tokenizer("cl100k_base")
    structure = read_structure(text)

    chunks = chunk(document(text), tokenizer=tokenizer, size=size, overlap=0, by="row")

    for block in structure.blocks:
        _, *others = structure.outermost_rows(block)
        for row in others if block.kind != "verbatim" else []:
            below_header = block.repeated_header is not None and row == block.repeated_header[1]
            assert below_header or not any(piece.start < row < piece.end for piece in chunks)


def random_text(alphabet: str, length: int) -> str:
    return "".join(random.Random(1).choices(alphabet, k=length))


HAN = "".join(map(chr, range(0x4E00, 0x9000)))
WORST = {
    "a line without a space": lambda: random_text("0123456789abcdef", 1_000_000),
    "2 MB of one letter": lambda: "a" * 2_000_000,
    "200,000 Chinese characters": lambda: random_text(HAN + "。", 200_000),
    "base64": lambda: base64.b64encode(random.Random(1).randbytes(600_000)).decode(),
    "white space": lambda: "x" + " " * 500_000 + "\n" * 200_000 + "y",
    "headings": lambda: "#\n" * 50_000,
    "a table": lambda: "| a | b |\n" * 50_000,
    "a table with a header": lambda: "| a | b |\n|---|---|\n" + "| c | d |\n" * 6_000,
    "one row": lambda: "| a | b |\n|---|---|\n|" + " some words |" * 5_000,
    "a list": lambda: "- key: value; other: value\n" * 3_000,
    "nested items": lambda: "".join(" " * 2 * depth + "- x\n" for depth in range(200)),
    "code": lambda: "```py\n" + "x = 1\n" * 8_000,
    "an item without a token": lambda: "- " + "\u200b" * 20_000,
    "no token at all": lambda: "\u200b" * 50_000,
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("case", WORST)
def test_work_is_linear_whatever_the_text(case: str, name: str) -> None:
    text = WORST[case]()
    if name != "cl100k_base":
        text = text[:60_000]  # these tokenizers are slower: linear all the same
    counting = CountingTokenizer(load_tokenizer(name))

    chunks = chunk(document(text), tokenizer=counting, size=256, overlap=32)

    assert counting.characters <= 4 * len(text)
    assert_sound(text, chunks, tokenizer=counting, size=256)
