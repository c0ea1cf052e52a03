"""The sections that a chunk contains."""

from ingest.chunking.chunk import chunk
from ingest.chunking.structure import heading_paths
from ingest.chunking.structure_reader import read_structure
from ingest.model import Page
from tests.support.chunk_checks import CL100K, SENTENCE, chunks_of, document

TEXT = (
    "before\n\n# A\n\none\n\n### B\n\ntwo\n\n###\n\nunnamed\n\n## C\n\n```\n# not a heading\n"
    "```\n\n# D\n\n" + SENTENCE * 20 + "\n\n## E\n\nlast"
)


def test_a_chunk_knows_each_section_that_begins_in_it() -> None:
    headings = read_structure(TEXT).headings
    expected = dict(
        zip((heading.start for heading in headings), heading_paths(headings), strict=True)
    )

    found = {}
    chunks = chunks_of(TEXT, size=64)
    for one in chunks:
        path = list(one.headings)
        for start, kept, heading in one.sections:
            assert one.start < start < one.end
            path = path[:kept] + ([heading] if heading else [])
            found[start] = tuple(path)

    begun = {one.start for one in chunks}
    assert found == {start: path for start, path in expected.items() if start not in begun}
    assert len(found) > 2
    assert any(len(one.sections) > 1 for one in chunks)


def test_sections_take_no_more_than_the_headings_they_name() -> None:
    outer = "".join(f"{'#' * level} {'long ' * 30}{level}\n\n" for level in range(1, 6))
    text = outer + "###### x\n\n" * 500

    chunks = chunks_of(text, size=256)

    named = sum(len(heading) for one in chunks for _, _, heading in one.sections)
    assert named < len(text)


def test_a_section_is_not_joined_with_one_below_another_parent() -> None:
    first = f"# A\n\n{SENTENCE * 4}\n\n## A1\n\n{SENTENCE * 2}\n\n## A2\n\nshort\n\n"
    text = f"{first}# B\n\nshort too\n\n## B1\n\n{SENTENCE}\n\n# C\n\nlast"

    chunks = chunks_of(text, size=80)

    assert [one.text.splitlines()[0] for one in chunks] == ["# A", "## A1", "# B"]
    assert chunks[1].text.endswith("## A2\n\nshort")
    assert chunks[2].text.endswith("# C\n\nlast")


def test_a_heading_without_text_goes_with_what_follows() -> None:
    text = f"# A\n\n### Empty\n\n## Next\n\n{SENTENCE}"

    assert [one.text for one in chunks_of(text, size=80)] == [text.strip()]


def test_a_slide_without_a_title_begins_a_chunk() -> None:
    text = "## One\n\nfirst\n\n## Slide 2\n\nsecond\n\n## Slide 5\n\nthird"
    starts = [0, text.index("## Slide 2"), text.index("## Slide 5")]
    pages = tuple(
        Page(number=number, start=start, end=end)
        for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(text)], strict=True), 1)
    )

    chunks = chunk(document(text, pages), tokenizer=CL100K, size=80, overlap=0)

    assert [one.text for one in chunks] == [
        "## One\n\nfirst",
        "## Slide 2\n\nsecond\n\n## Slide 5\n\nthird",
    ]
