"""Reasons for which a person must review a file before it becomes searchable."""

from collections.abc import Iterator
from uuid import UUID

from ingest.handlers.context import Context, Review
from ingest.model import Document
from ingest.postgres.database import transaction
from ingest.store.tenants import applications

# If a smaller share of its pages has text, a file is probably a scan.
_MIN_TEXT_SHARE = 0.5
_FLAGS = {
    # The parser keeps hidden text if it is most of a page (html/hidden_text.py).
    "hidden_text": "text that readers do not see, which is not searchable unless it is most of"
    " a page",
    "folded_text": "text that readers see only if a control opens it, which would be searchable",
    "script_text": "text that only the scripts of a page hold, which would be searchable",
}
"""Warnings of text that may be meant for machines only."""


async def required_review(
    document: Document, ctx: Context, *, application_id: UUID
) -> Review | None:
    """The most serious review of this document that its application has enabled, if any."""
    raised = list(applicable_reviews(document))
    if not raised:
        return None
    async with transaction(ctx.pool) as conn:
        settings = await applications.settings_of(conn, application_id)
    return next((review for review in raised if review.reason in settings.reviews), None)


def applicable_reviews(document: Document) -> Iterator[Review]:
    """All reviews that apply to the document, the most serious first."""
    coverage = document.coverage
    flags = [text for warning, text in _FLAGS.items() if warning in document.warnings]
    if flags:
        yield Review(
            reason="flagged_content",
            message=f"the file has {', and '.join(flags)}; approve to search the file,"
            " reject to leave it out",
        )
    if coverage.pages > 1 and coverage.with_text < coverage.pages * _MIN_TEXT_SHARE:
        yield Review(
            reason="low_coverage",
            message=f"{coverage.with_text} of {coverage.pages} pages have text;"
            " approve to search those, reject to leave the file out",
        )
