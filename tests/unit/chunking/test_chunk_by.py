"""What ends a chunk, and the section it is in."""

from ingest.chunking.chunk import chunk
from ingest.model import ChunkBy, Page
from tests.support.chunk_checks import CL100K, SENTENCE, cut, document

HEADER = "| name | value |\n|---|---|\n"


def paged(*texts: str) -> tuple[str, tuple[Page, ...]]:
    text = "\n\n".join(texts)
    pages = []
    start = 0
    for number, page in enumerate(texts, start=1):
        pages.append(Page(number=number, start=start, end=start + len(page)))
        start += len(page) + 2
    return text, tuple(pages)


def pieces(text: str, pages: tuple[Page, ...], by: ChunkBy, overlap: int = 0) -> list[str]:
    chunks = chunk(document(text, pages), tokenizer=CL100K, size=64, overlap=overlap, by=by)
    return [piece.text for piece in chunks]


def test_a_chunk_says_the_first_and_the_last_page_that_it_reaches() -> None:
    text, pages = paged("One.", "Two.", "Three.")

    whole = chunk(document(text, pages), tokenizer=CL100K, size=64, overlap=0, by="size")
    single = chunk(document(text, pages), tokenizer=CL100K, size=64, overlap=0, by="page")

    assert [(piece.page, piece.page_end) for piece in whole] == [(1, 3)]
    assert [(piece.page, piece.page_end) for piece in single] == [(1, 1), (2, 2), (3, 3)]


def test_by_page_every_page_starts_a_chunk() -> None:
    text, pages = paged("One.", "Two.", SENTENCE * 8)

    first, second, *others = pieces(text, pages, "page", overlap=32)

    assert (first, second) == ("One.", "Two.")
    assert others[0].startswith("The parser")


def test_by_heading_a_chunk_may_be_on_two_pages() -> None:
    text, pages = paged("One.", "Two.")

    assert pieces(text, pages, "heading") == [text]


def test_by_page_without_pages_is_by_heading() -> None:
    text = f"# A\n\n{SENTENCE * 4}\n\n# B\n\n{SENTENCE * 4}"

    assert pieces(text, (), "page") == pieces(text, (), "heading")


def test_by_row_each_row_is_a_chunk_under_its_header() -> None:
    rows = [f"| name {number} | {number} |" for number in range(3)]

    chunks = cut(f"Intro.\n\n# Sheet\n\n{HEADER}" + "\n".join(rows) + "\n\nEnd.", by="row")

    assert chunks == [
        "Intro.",
        f"# Sheet\n\n{HEADER}{rows[0]}",
        HEADER + rows[1],
        HEADER + rows[2],
        "End.",
    ]


def test_by_row_each_record_is_a_chunk_with_what_is_nested_in_it() -> None:
    text = "## People\n\n- name: A\n  - child: B\n- name: C\n\n```\nx = 1\n\ny = 2\n```"

    chunks = cut(text, overlap=16, by="row")

    assert chunks == [
        "## People\n\n- name: A\n  - child: B",
        "- name: C",
        "```\nx = 1\n\ny = 2\n```",
    ]


def test_by_size_headings_end_no_chunk() -> None:
    text = "\n\n".join(f"## Part {number}\n\n{SENTENCE}" for number in range(24))

    *full, last = cut(f"# A\n\n{SENTENCE}\n\n# B\n\n{text}", size=100, by="size")

    assert all(CL100K.count(piece) > 70 for piece in full)
    assert all(piece.startswith("## Part") for piece in [*full[1:], last])


def test_by_size_neighbours_overlap_across_headings() -> None:
    text = f"{SENTENCE * 4}\n\n# B\n\n{SENTENCE * 4}"

    second = cut(text, overlap=16, by="size")[1]

    assert not second.startswith("# B")


def test_a_section_ends_with_the_next_heading_of_its_level_or_above() -> None:
    part = SENTENCE * 4
    text = f"{part}\n\n# A\n\n{part}\n\n## B\n\n{part}\n\n### C\n\n{part}\n\n## D\n\n{part}\n"

    chunks = chunk(document(text), tokenizer=CL100K, size=72, overlap=0)

    sections = [text[slice(*piece.section)] for piece in chunks if piece.section]
    assert sections == [
        f"{part}\n\n",
        text[text.index("# A") :],
        text[text.index("## B") : text.index("## D")],
        text[text.index("### C") : text.index("## D")],
        text[text.index("## D") :],
    ]


def test_a_section_holds_all_of_its_chunk() -> None:
    text = f"# A\n\n## B\n\n{SENTENCE}\n\n## C\n\n{SENTENCE}\n\n# D\n\n{SENTENCE * 9}"

    first = chunk(document(text), tokenizer=CL100K, size=72, overlap=0)[0]

    assert "## C" in first.text
    assert first.section == (0, text.index("# D"))


def test_a_chunk_that_is_in_no_section_has_the_whole_text_around_it() -> None:
    text = f"Preamble.\n\n## A\n\n{SENTENCE}\n\n## B\n\n{SENTENCE}"

    [only] = chunk(document(text), tokenizer=CL100K, size=200, overlap=0)

    assert only.section == (0, len(text))


def test_without_headings_the_whole_text_is_the_section() -> None:
    text = SENTENCE * 12

    chunks = chunk(document(text), tokenizer=CL100K, size=64, overlap=0)

    assert {piece.section for piece in chunks} == {(0, len(text))}
