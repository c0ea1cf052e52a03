"""Runs steps that change the lines of pages in place, and rolls back a step that fails."""

from collections.abc import Callable, Sequence

from ingest.best_effort import improve
from ingest.formats.pdf.lines import PageLines
from ingest.model import Step


def improve_pages(step: Step, pages: Sequence[PageLines], change: Callable[[], object]) -> None:
    """Run `change`, which modifies these pages; restore them if it fails."""
    # Steps replace `page.lines` and never mutate the list, so a reference is enough.
    saved = [(page, page.lines, [(line.text, line.level) for line in page.lines]) for page in pages]

    def put_back() -> None:
        for page, lines, looks in saved:
            page.lines = lines
            for line, (text, level) in zip(lines, looks, strict=True):
                line.text, line.level = text, level

    improve(step, change, otherwise=put_back)
