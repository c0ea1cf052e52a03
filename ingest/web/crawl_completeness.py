"""Whether a run has seen the whole site: the one rule that decides if pages may be removed.

A page that nothing leads to any more is removed only by a complete run. Whatever the run can say
neither "seen" nor "gone" of makes it incomplete, states that this module does not know included.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

Fate = Literal["seen", "gone", "unknown"]

NOT_SCRAPED: Final = "not_scraped"
"""Pages that the provider gave up: cancelled, of an unknown state, or because the crawl was."""
NOT_DELIVERED: Final = "not_delivered"
"""Pages that the provider counted, but that are not among its results."""

# Reasons in `rag.crawls.skipped` that stand for pages nobody looked at. The others are addresses
# that are no part of the crawl.
_MISSING: Final = frozenset({"limit", "unread", NOT_SCRAPED, NOT_DELIVERED})

# `skipped`: the page itself or its address says that it does not belong to the site.
_SEEN: Final = frozenset({"new", "changed", "unchanged", "kept", "duplicate", "skipped"})
_GONE: Final = frozenset({"gone", "removed"})
_GONE_STATUSES: Final = (404, 410)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageCount:
    """So many pages of a run have ended in the same way."""

    status: str
    n: int
    error_code: str | None = None
    http_status: int | None = None


def fate(page: PageCount) -> Fate:
    """What the run knows of such a page."""
    if page.status in _SEEN:
        return "seen"
    if page.status in _GONE or (page.status == "failed" and page.http_status in _GONE_STATUSES):
        return "gone"
    return "unknown"


def is_complete(pages: Iterable[PageCount], *, harmless: int, skipped: Mapping[str, int]) -> bool:
    """Whether every page of the site was seen or is gone.

    `harmless`: how many of the failed pages hide nothing, because their links were followed all
    the same, or because no run ever could read them and all that is stored was found without them.
    """
    unknown = sum(page.n for page in pages if fate(page) == "unknown")
    return unknown <= harmless and not missing(skipped)


def missing(skipped: Mapping[str, int]) -> int:
    """How many pages, at least, nobody has looked at; `skipped`: counts by reason."""
    return sum(count for reason, count in skipped.items() if reason in _MISSING)
