"""Tables, lists and code in chunks."""

from itertools import pairwise

import pytest

from ingest.chunking.chunk import chunk
from tests.support.chunk_checks import CL100K, SENTENCE, assert_sound, cut, document, rows_cut

HEADER = "| name | value |\n|---|---|\n"


def test_a_table_that_fits_is_not_cut() -> None:
    table = "| name | value |\n|---|---|\n" + "| a | 1 |\n" * 6
    text = f"{SENTENCE * 3}\n\n{table}\n{SENTENCE * 4}"

    chunks = cut(text, size=64, overlap=16)

    assert any(table.strip() in piece for piece in chunks)


def test_a_table_that_fits_alone_is_not_cut_for_the_sake_of_an_overlap() -> None:
    table = "| a | 1 |\n" * 10
    assert 48 < CL100K.count(table) <= 64

    chunks = cut(f"{SENTENCE * 3}\n\n{table}\n{SENTENCE * 4}", size=64, overlap=16)

    assert table.strip() in chunks


def test_heading_is_in_the_chunk_of_the_table_below_it() -> None:
    table = "| a | 1 |\n" * 10

    chunks = cut(f"Intro.\n\n# Values\n\n{table}\n{SENTENCE * 4}", size=64)

    assert chunks[:2] == ["Intro.", f"# Values\n\n{table}".strip()]


def test_code_that_fits_is_not_cut_at_its_blank_lines() -> None:
    code = "```py\n" + "x = 1\n\ny = 2\n" * 4 + "```"
    text = f"{SENTENCE * 3}\n\n{code}\n\n{SENTENCE * 4}"

    assert any(code in piece for piece in cut(text, size=64, overlap=16))


def test_a_table_too_long_for_a_chunk_is_cut_between_rows() -> None:
    chunks = cut("| some name | some value |\n" * 60, size=64)

    assert all(piece.startswith("| some name") and piece.endswith("|") for piece in chunks)


def test_a_chunk_that_starts_below_the_header_of_its_table_repeats_it() -> None:
    text = HEADER + "".join(f"| some name {number} | some value |\n" for number in range(40))

    chunks = chunk(document(text), tokenizer=CL100K, size=64, overlap=0)

    assert_sound(text, chunks, tokenizer=CL100K, size=64)
    assert chunks[0].repeated_header is None
    assert all(piece.repeated_header == (0, len(HEADER)) for piece in chunks[1:])
    assert all(piece.text.startswith(f"{HEADER}| some name") for piece in chunks[1:])


def test_tables_without_outer_bars_have_headers_too() -> None:
    header = "name | value\n--- | :-:\n"

    _, second, *_ = cut(header + "some name | some value\n" * 40)

    assert second.startswith(f"{header}some name | some value")


def test_rows_above_any_header_have_no_lead() -> None:
    chunks = chunk(document("| some name | value |\n" * 40), tokenizer=CL100K, size=64, overlap=0)

    assert {piece.repeated_header for piece in chunks} == {None}


def test_a_header_that_takes_more_than_a_third_of_a_chunk_is_not_repeated() -> None:
    header = f"| {SENTENCE * 2} | b |\n|---|---|\n"
    assert CL100K.count(header) > 64 / 3

    _, *others = cut(header + "| some name | some value |\n" * 40)

    assert all(piece.startswith("| some name") for piece in others)


def test_a_row_that_fits_only_without_the_header_is_whole_without_it() -> None:
    row = f"| {'word ' * 54}| end |\n"
    assert 64 - 10 < CL100K.count(row) <= 64

    chunks = cut(HEADER + "| a | b |\n" * 12 + row + "| a | b |\n" * 12)

    assert any(piece.startswith(row.strip()) for piece in chunks)


def test_a_header_is_not_left_at_the_end_of_a_chunk() -> None:
    header = "| the name of the thing | the value that it has |\n|---|---|\n"
    text = f"{SENTENCE * 2}\n\n{header}" + f"| {'word ' * 45}| end |\n" * 2

    first, *_ = cut(text, size=72)

    assert first == (SENTENCE * 2).strip()


def test_an_overlap_has_whole_rows() -> None:
    text = "".join(f"| row {number} | x |\n" for number in range(60))

    chunks = chunk(document(text), tokenizer=CL100K, size=64, overlap=16)

    assert len(chunks) > 5
    for before, after in pairwise(chunks):
        assert after.text.startswith("| row")
        assert after.start < before.end


def test_rows_longer_than_the_overlap_are_not_in_it() -> None:
    text = "".join(f"| row {number} | {'word ' * 20}|\n" for number in range(20))

    chunks = chunk(document(text), tokenizer=CL100K, size=64, overlap=16)

    assert all(after.start > before.end for before, after in pairwise(chunks))


def test_a_row_longer_than_a_chunk_is_cut_between_cells() -> None:
    row = "| " + " | ".join(f"cell {number} of a long row" for number in range(30)) + " |\n"

    _, *others = cut(HEADER + row)

    assert all(piece.startswith(f"{HEADER}| cell") for piece in others)


def test_a_cell_longer_than_a_chunk_is_cut_between_sentences() -> None:
    chunks = cut(f"{HEADER}| {SENTENCE * 20}| end |\n")

    assert all(piece.rstrip("| end").endswith("chunker.") for piece in chunks)


def test_a_record_longer_than_a_chunk_is_cut_between_its_fields() -> None:
    fields = "; ".join(f"field {number}: some value. And more" for number in range(30))

    first, *others = cut(f"- {fields}\n")

    assert first.startswith("- field 0")
    assert all(piece.startswith("field ") for piece in others)


@pytest.mark.parametrize("overlap", [0, 16])
def test_a_list_item_that_fits_is_not_cut(overlap: int) -> None:
    text = "".join(f"- {SENTENCE * (1 + number % 4)}\n" for number in range(30))

    chunks = chunk(document(text), tokenizer=CL100K, size=64, overlap=overlap)

    assert rows_cut(text, chunks, tokenizer=CL100K, size=64) == []
    assert all(piece.text.startswith("- The") for piece in chunks)


@pytest.mark.parametrize("words", range(20, 30))
def test_the_indent_of_an_item_does_not_count(words: int) -> None:
    item = "- " + "word " * 30 + "end"
    text = f"{'word ' * words}\n\n- outer\n{' ' * 9}{item}\n{' ' * 9}{item}"

    chunks = cut(text, size=CL100K.count(item))

    assert chunks[-2:] == [item, item]


def test_nested_items_are_kept_with_their_parent_if_they_fit() -> None:
    item = f"- Outer\n  - {SENTENCE}\n  - {SENTENCE}\n"

    chunks = cut(item * 12, size=64)

    assert all(piece.startswith("- Outer") for piece in chunks)


def test_list_continues_after_blank_lines() -> None:
    item = f"- {SENTENCE}\n\n  {SENTENCE}\n\n"

    chunks = cut(item * 12, size=64)

    assert all(piece.startswith("- The") for piece in chunks)


def test_code_longer_than_a_chunk_is_cut_at_blank_lines_and_its_fence_repeated() -> None:
    code = "def f():\n    return 1 + 2\n\n"

    first, *others = cut("```py\n" + code * 30 + "```\n\nend", size=64)

    assert first.startswith("```py\ndef f()")
    assert all(piece.startswith("```py\ndef f()") for piece in others)


def test_code_without_blank_lines_is_cut_between_lines() -> None:
    _, *others = cut("~~~\n" + "some_name = another_name + 1\n" * 30 + "~~~\n", size=64)

    assert all(piece.startswith("~~~\nsome_name =") for piece in others)
