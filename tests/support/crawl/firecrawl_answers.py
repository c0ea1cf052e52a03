"""All that Firecrawl can report about one page and its crawl: events, and results of its API.

`PAGE`, the page in question, is the page that a test asks about.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tests.servers.firecrawl_events import CANCELLED, RACED, document, stub

_TIMEOUT: Final = "The scrape operation timed out before completing."


@dataclass(frozen=True, kw_only=True)
class Said:
    """An event."""

    type: str = "page"
    data: tuple[str, ...] = ()
    """Kinds of documents of the page in question: `ok`, `404`, `410`, `empty`, `odd`; or its
    `stub`.
    """
    error: str | None = None
    success: Any = None
    """Replaces the `success` that usually accompanies `error`."""
    clears: bool = False
    """Whether this event shows that the page exists."""
    is_gone: bool = False
    names: bool = True
    """Whether the event reports that such a page exists."""
    spoils: bool = False
    """Whether it reports that something was not scraped, which no later event corrects."""


EVENTS: Final[dict[str, Said]] = {
    "ok": Said(data=("ok",), clears=True),
    "404": Said(data=("404",), is_gone=True),
    "410": Said(data=("410",), is_gone=True),
    "without text": Said(data=("empty",)),
    "failed": Said(data=("stub",), error=_TIMEOUT),
    "cancelled": Said(data=("stub",), error=CANCELLED, spoils=True),
    "raced": Said(data=("stub",), error=RACED, names=False),
    "without data": Said(names=False),
    "unknown success": Said(data=("ok",), success="partly", spoils=True),
    "no success": Said(data=("ok",), success=0, spoils=True),
    "unknown status": Said(data=("odd",), spoils=True),
    "started": Said(type="started", names=False),
    "completed": Said(type="completed", names=False),
    "crawl failed": Said(type="failed", error="Broken", names=False, spoils=True),
    "crawl cancelled": Said(
        type="cancelled", error="Crawl was cancelled", names=False, spoils=True
    ),
    "unknown event": Said(type="paused", names=False),
}

# One of each kind: a test of all pairs would take minutes.
IN_PAIRS: Final = (
    *("ok", "404", "failed", "cancelled", "raced", "unknown success"),
    *("without data", "completed", "crawl cancelled"),
)


@dataclass(frozen=True, kw_only=True)
class Polled:
    """The results of the API at the end of a crawl, with or without the page in question."""

    status: str = "completed"
    documents: tuple[str, ...] = ()
    """Kinds of documents of the page: `ok`, `404`, `410`, `empty`, `odd`; or its `stub`."""
    hidden: int = 0
    """Documents that are counted but missing from the results."""
    waiting: int = 0
    """Pages counted in `total` but not in `completed`."""
    counts: Mapping[str, Any] = field(default_factory=dict)
    """Replaces the counts."""
    errors: tuple[Mapping[str, Any], ...] = ()
    is_whole: bool = True
    """Whether it claims, rightly or wrongly, that all pages were scraped."""
    names: bool = False
    is_gone: bool = False
    clears: bool = False


PAGE: Final = "page in question"
POLLS: Final[dict[str, Polled]] = {
    "without the page": Polled(),
    "with the page": Polled(documents=("ok",), names=True, clears=True),
    "gone": Polled(documents=("404",), names=True, is_gone=True),
    "without text": Polled(documents=("empty",), names=True),
    "unknown status of the page": Polled(documents=("odd",), is_whole=False),
    "page without address": Polled(documents=("nameless",), is_whole=False),
    "page failed": Polled(errors=({"url": PAGE, "error": _TIMEOUT},), names=True),
    "page cancelled": Polled(errors=({"url": PAGE, "error": CANCELLED},), is_whole=False),
    "page raced": Polled(errors=({"url": PAGE, "code": "SCRAPE_RACED_REDIRECT_ERROR"},)),
    "error without address": Polled(errors=({"error": _TIMEOUT},), is_whole=False),
    "cut short": Polled(hidden=1, is_whole=False),
    "expired": Polled(counts={"completed": 9, "total": 9}, is_whole=False),
    "still waiting": Polled(waiting=1, is_whole=False),
    "no counts": Polled(counts={"completed": None, "total": None}, is_whole=False),
    "no success": Polled(counts={"success": False}, is_whole=False),
    "cancelled": Polled(status="cancelled", is_whole=False),
    "failed": Polled(status="failed", is_whole=False),
}


def element(kind: str, url: str) -> dict[str, Any]:
    """A document of a page, or its stub."""
    match kind:
        case "stub":
            return stub(url)
        case "404" | "410":
            return document(url, "# Not found", status=int(kind))
        case "empty":
            return document(url, " ")
        case "odd":
            return {**document(url, "# A page"), "status": "skipped"}
        case "nameless":
            return {"markdown": "# A page", "metadata": {"statusCode": 200}}
    return document(url, "# A page")
