"""Runs a step on the lines of pages so that its failure leaves them as they were."""

from collections.abc import Callable, Sequence

from ingest.formats.pdf.layout.text_lines import PageLines
from ingest.model import Step
from ingest.optional_steps import improve


def run_or_roll_back(step: Step, pages: Sequence[PageLines], change: Callable[[], object]) -> None:
    """Run `change`, which modifies the lines of these pages in place; restore them if it fails."""
    # Steps replace `page.lines` and never mutate the list, so a reference is enough.
    # Two lists, because a tuple for each line takes three times as long.
    saved = [
        (page, lines := page.lines, [line.text for line in lines], [line.level for line in lines])
        for page in pages
    ]

    def restore() -> None:
        for page, lines, texts, levels in saved:
            page.lines = lines
            for line, text, level in zip(lines, texts, levels, strict=True):
                line.text, line.level = text, level

    improve(step, change, otherwise=restore)
