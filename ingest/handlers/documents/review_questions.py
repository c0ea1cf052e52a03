"""What about a file a person may have to decide before it is searched."""

from collections.abc import Iterator
from uuid import UUID

from ingest.handlers.context import Context, Review
from ingest.model import Document
from ingest.store.tenants import applications

# With less than this share of its pages read, a file is likely to be a scan.
_LEAST_SHARE = 0.5


async def ask(document: Document, ctx: Context, *, application_id: UUID) -> Review | None:
    """The gravest question that the document raises and that its application wants to be asked."""
    raised = list(questions(document))
    if not raised:
        return None
    async with ctx.pool.connection() as conn:
        settings = await applications.settings_of(conn, application_id)
    return next((review for review in raised if review.reason in settings.reviews), None)


def questions(document: Document) -> Iterator[Review]:
    """All that the document raises, the gravest first."""
    coverage = document.coverage
    if "hidden_text" in document.warnings:
        yield Review(
            reason="flagged_content",
            # The parser keeps it where most of a page is like that (html/hidden.py).
            message="the file has text that its readers do not see, left out of what is searched"
            " unless it is most of a page; approve to search the file, reject to leave it out",
        )
    if coverage.pages > 1 and coverage.with_text < coverage.pages * _LEAST_SHARE:
        yield Review(
            reason="low_coverage",
            message=f"{coverage.with_text} of {coverage.pages} pages have text;"
            " approve to search those, reject to leave the file out",
        )
