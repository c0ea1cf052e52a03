"""Steps that change lines of a PDF in place, made safe: a step that fails leaves no trace."""

from collections.abc import Callable, Sequence

from ingest.best_effort import improve
from ingest.formats.pdf.lines import PageLines
from ingest.model import Step


def improve_pages(step: Step, pages: Sequence[PageLines], change: Callable[[], object]) -> None:
    """Run `change`, which works on these pages; if it fails, they are as they were before."""
    # Lists of lines are replaced, never changed.
    saved = [(page, page.lines, [(line.text, line.level) for line in page.lines]) for page in pages]

    def put_back() -> None:
        for page, lines, looks in saved:
            page.lines = lines
            for line, (text, level) in zip(lines, looks, strict=True):
                line.text, line.level = text, level

    improve(step, change, otherwise=put_back)
