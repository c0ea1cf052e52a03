"""Pages with headings and prose, and the headings that are found on them."""

import io

from ingest.formats.registry import extract as extract_file
from tests.builders.make_pdf import document, lines

PROSE = ("Some words of a text that goes on and on,", "line after line, so that it has a size.")


def headings(
    *sheets: bytes,
    catalog: bytes = b"",
    extra: list[bytes] | None = None,
    fonts: dict[str, bytes] | None = None,
) -> list[str]:
    data = document(*sheets, catalog=catalog, extra=extra or [], fonts=fonts)
    text = extract_file(io.BytesIO(data), name="a.pdf").text
    return [line for line in text.split("\n") if line.startswith("#")]


def sections(*titles: bytes) -> bytes:
    """Each title at its place, 150 points apart, with prose below it."""
    return b"".join(
        title + lines(50, 680 - 150 * place, *PROSE * 3) for place, title in enumerate(titles)
    )
