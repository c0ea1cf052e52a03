"""PDF: two columns of prose that the file writes line by line."""

import io

import pytest

from ingest.formats.registry import extract as extract_file
from tests.builders.make_pdf import at, document

_LEFT = (
    "The board met in the spring to look at",
    "the state of the quay walls, which had",
    "been built a century ago, and patched",
    "many times since then.",
)
_RIGHT = (
    "Der Hafenrat trat im Herbst zusammen,",
    "um den Zustand der Mauern zu sehen,",
    "die vor hundert Jahren gebaut wurden.",
)


def extract(left: tuple[str, ...], right: tuple[str, ...]) -> str:
    content = b""
    for index, text in enumerate(left):
        content += at(50, 700 - 13 * index, text, size=11)
        if index < len(right):
            content += at(310, 700 - 13 * index, right[index], size=11)
    return words(content)


def words(content: bytes) -> str:
    found = extract_file(io.BytesIO(document(content)), name="a.pdf")
    assert found.warnings == ()
    return " ".join(found.text.split())


def test_parallel_texts_are_read_column_by_column() -> None:
    assert extract(_LEFT, _RIGHT) == " ".join([*_LEFT, *_RIGHT])


def test_rows_of_words_are_read_across() -> None:
    countries = ("The Kingdom of Denmark", "The Kingdom of Norway", "The Republic of Iceland")
    capitals = ("Copenhagen on the Sound", "Oslo at the end of a fjord", "Reykjavik in the west")

    text = extract(countries, capitals)

    assert text.index("Copenhagen") < text.index("Norway") < text.index("Oslo")


@pytest.mark.parametrize(
    ("x", "text"),
    [(270, "*" * 12), (250, "and also this"), (180, "harbour@board-of-the-quay.example")],
)
def test_a_line_below_that_crosses_both_columns_stays_whole(x: float, text: str) -> None:
    content = b""
    for index, (left, right) in enumerate(zip(_LEFT, _RIGHT, strict=False)):
        content += at(50, 700 - 13 * index, left, size=11)
        content += at(310, 700 - 13 * index, right, size=11)

    content += at(x, 661, text, size=11)

    assert words(content).replace("\\", "").endswith(f"gebaut wurden. {text}")
