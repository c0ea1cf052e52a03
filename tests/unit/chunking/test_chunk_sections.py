"""The sections that a chunk contains."""

from ingest.chunking.structure import heading_paths
from ingest.chunking.structure_reader import read_structure
from tests.support.chunk_checks import SENTENCE, chunks_of

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
    for chunk in chunks:
        path = list(chunk.headings)
        for start, kept, heading in chunk.sections:
            assert chunk.start < start < chunk.end
            path = path[:kept] + ([heading] if heading else [])
            found[start] = tuple(path)

    begun = {chunk.start for chunk in chunks}
    assert found == {start: path for start, path in expected.items() if start not in begun}
    assert len(found) > 2
    assert any(len(chunk.sections) > 1 for chunk in chunks)


def test_sections_take_no_more_than_the_headings_they_name() -> None:
    outer = "".join(f"{'#' * level} {'long ' * 30}{level}\n\n" for level in range(1, 6))
    text = outer + "###### x\n\n" * 500

    chunks = chunks_of(text, size=256)

    named = sum(len(heading) for chunk in chunks for _, _, heading in chunk.sections)
    assert named < len(text)
