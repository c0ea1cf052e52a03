"""PDF: two columns of prose that the file writes line by line."""

import io

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
    found = extract_file(io.BytesIO(document(content)), name="a.pdf").text
    return " ".join(found.split())


def test_parallel_texts_are_read_column_by_column() -> None:
    assert extract(_LEFT, _RIGHT) == " ".join([*_LEFT, *_RIGHT])


def test_rows_of_words_are_read_across() -> None:
    countries = ("The Kingdom of Denmark", "The Kingdom of Norway", "The Republic of Iceland")
    capitals = ("Copenhagen on the Sound", "Oslo at the end of a fjord", "Reykjavik in the west")

    text = extract(countries, capitals)

    assert text.index("Copenhagen") < text.index("Norway") < text.index("Oslo")
