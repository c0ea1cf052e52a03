"""Pages of a calendar that say the same on each date: one is stored, and the chain is cut off."""

from typing import Final

from ingest.handlers.crawl.page_update import PageUpdate
from ingest.postgres.database import Connection
from ingest.store.crawl import crawl_pages, site_documents
from ingest.store.crawl.crawl_pages import PageResult
from ingest.web.calendars import undated

CODE: Final = "near_duplicate"
_LONGEST: Final = 5_000  # characters: pages without entries are short
_MOST_EMPTY: Final = 12  # pages of a pattern; then links between such pages are not followed


async def near_duplicate(conn: Connection, update: PageUpdate) -> PageResult | None:
    """The result of a new page that differs from a stored one of its URL pattern only in dates.

    After _MOST_EMPTY of them, drops the page's links to others of the pattern. The caller holds the
    lock of the run.
    """
    new, pattern = update.new, update.read.seen.url_pattern
    if new is None or pattern is None or update.stored is not None:
        return None
    text = new.document.text
    if update.crawl.source_type != "site" or len(text) > _LONGEST:
        return None
    others = await site_documents.texts_of_pattern(
        conn, new.source_id, pattern=pattern, length=len(text), except_for=new.uri
    )
    same = next((uri for uri, other in others if _is_same(text, new.uri, other, uri)), None)
    if same is None:
        return None
    crawl_id = update.crawl.id
    if await crawl_pages.count_skipped(conn, crawl_id, pattern, code=CODE) >= _MOST_EMPTY:
        dropped = [page.uri for page in update.found.pages if page.url_pattern == pattern]
        update.found.pages = [p for p in update.found.pages if p.url_pattern != pattern]
        update.found.skipped["trap"] += len(dropped)
        update.found.too_deep += dropped  # stored ones make the run incomplete
    update.freed += 1
    return PageResult(
        status="skipped", error_code=CODE, error_message=f"only dates differ from {same}"
    )


def _is_same(text: str, uri: str, other: str, other_uri: str) -> bool:
    return undated(text, (uri, other_uri)) == undated(other, (uri, other_uri))
