"""Whether a run has seen the whole site: the rule that decides if pages may be removed.

Only a complete run removes pages that no link leads to any more. Every page that is neither seen
nor gone makes the run incomplete; a status unknown to this module counts as neither.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

Presence = Literal["seen", "gone", "unknown"]

NOT_SCRAPED: Final = "not_scraped"
"""Pages that the provider did not scrape: cancelled, of unknown state, or the crawl ended early."""
NOT_DELIVERED: Final = "not_delivered"
"""Pages that the provider counted but did not return."""

# Reasons in `rag.crawls.skipped` for pages that belong to the crawl but were not fetched. All other
# reasons are for URLs outside of the crawl.
_MISSING: Final = frozenset({"limit", "unread", NOT_SCRAPED, NOT_DELIVERED})

HIDING: Final = ("login_page", "consent_wall", "needs_javascript")
"""Codes of skipped pages that may link to others (web/placeholders.py)."""

# Any other `skipped` counts as seen: robots.txt, noindex, the crawl's scope or a redirect out of it
# excludes the page.
_SEEN: Final = frozenset({"new", "changed", "unchanged", "kept", "duplicate", "skipped"})
_GONE: Final = frozenset({"gone", "removed"})
_GONE_STATUSES: Final = (404, 410)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageCount:
    """The number of a run's pages with the same outcome."""

    status: str
    n: int
    error_code: str | None = None
    http_status: int | None = None


def presence_of(page: PageCount) -> Presence:
    """Whether the run saw such pages, found them gone, or does not know."""
    if page.status == "skipped" and page.error_code in HIDING:
        return "unknown"
    if page.status in _SEEN:
        return "seen"
    if page.status in _GONE or (page.status == "failed" and page.http_status in _GONE_STATUSES):
        return "gone"
    return "unknown"


def is_complete(
    pages: Iterable[PageCount], *, failures_hiding_nothing: int, skipped: Mapping[str, int]
) -> bool:
    """Whether every page of the site was seen or is gone.

    `failures_hiding_nothing`: the number of unread pages that hide no other page, because their
    links were followed anyway, or because no run could ever read them and all stored pages were
    found without them.
    """
    unknown = sum(page.n for page in pages if presence_of(page) == "unknown")
    return unknown <= failures_hiding_nothing and not missing(skipped)


def missing(skipped: Mapping[str, int]) -> int:
    """The least number of pages that were not fetched; `skipped`: counts by reason."""
    return sum(count for reason, count in skipped.items() if reason in _MISSING)
