"""Readers of light markup other than Markdown, by the suffix of the file."""

from collections.abc import Callable

from ingest.formats.text.asciidoc import read_asciidoc
from ingest.formats.text.latex import read_latex
from ingest.formats.text.org import read_org
from ingest.formats.text.reading import Reading
from ingest.formats.text.restructured import read_restructured

_READERS: dict[str, Callable[[str], Reading]] = {
    ".rst": read_restructured,
    ".rest": read_restructured,
    ".adoc": read_asciidoc,
    ".asciidoc": read_asciidoc,
    ".tex": read_latex,
    ".latex": read_latex,
    ".org": read_org,
}


def reader_of(suffix: str) -> Callable[[str], Reading] | None:
    """The reader for a lower-case file name suffix; None if it is not that of a markup."""
    return _READERS.get(suffix)
