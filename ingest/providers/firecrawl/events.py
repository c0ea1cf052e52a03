"""Lenient parser for webhook events and documents of Firecrawl v0 to v2.

A signed delivery must not be lost because of its content: unusable parts are left out, unknown
events become `other`. The only error is a body that is not a JSON object.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from ingest.providers.firecrawl.storable_values import address_of, error_of, storable, text_of

EventKind = Literal["started", "page", "completed", "failed", "cancelled", "other"]
Outcome = Literal["page", "failed", "raced", "cancelled", "unknown"]

UNSCRAPED: Final[frozenset[Outcome]] = frozenset({"cancelled", "unknown"})
"""Outcomes of pages that Firecrawl has not scraped, as far as we know."""

# Other products (extract, agent, monitor) send the same envelope; we ignore them.
_PRODUCTS = ("crawl", "batch_scrape")
_KINDS: Final[tuple[EventKind, ...]] = ("started", "page", "completed", "failed", "cancelled")
_RACED = ("another scrape job in this same crawl", "SCRAPE_RACED_REDIRECT_ERROR")
_CANCELLED = "parent crawl or batch scrape was cancelled"
# Known values of `success`, and of a document's `status`, which may be absent.
_SUCCESS: Final[dict[Any, bool]] = {True: True, "true": True, False: False, "false": False}
_DONE: Final = frozenset({"completed", "success", "ok", "done"})
_MOST_DIGITS = 18


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawledPage:
    """One page as Firecrawl reports it. All strings are storable."""

    url: str
    """The URL after redirects; `source_url` if not given."""
    source_url: str
    """The URL that was queued."""
    scrape_id: str | None
    """The page's job, unchanged in repeated reports; only successful pages have one."""
    status_code: int | None
    """The target's HTTP status: a missing page has the outcome `page` and 404 here."""
    markdown: str
    """May be empty."""
    title: str | None
    language: str | None
    description: str | None
    links: tuple[str, ...]
    """Absolute http(s) URLs in page order, without duplicates."""
    outcome: Outcome
    """`raced`: redirected to a URL that another job scraped; `cancelled`: never tried;
    `unknown`: reported with values that we do not know."""
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FirecrawlEvent:
    """One webhook event."""

    kind: EventKind
    provider_crawl_id: str | None
    webhook_id: str | None
    """The same for all retries of a delivery; None from Firecrawl before December 2025."""
    run: Mapping[str, str]
    """The `webhook.metadata` of the start request."""
    pages: tuple[CrawledPage, ...]

    @property
    def unscraped(self) -> int:
        """The least number of pages that, according to the event, were not scraped."""
        pages = sum(page.outcome in UNSCRAPED for page in self.pages)
        return pages + (self.kind in ("failed", "cancelled"))


def parse_event(raw: bytes) -> FirecrawlEvent:
    """Read one delivery; raises ValueError if its body is not a JSON object."""
    body = parse_object(raw)
    success = _success(body.get("success", True))
    error = error_of(body.get("error"))
    return FirecrawlEvent(
        kind=_kind(text_of(body.get("type"))),
        provider_crawl_id=text_of(body.get("id")) or text_of(body.get("jobId")),
        webhook_id=text_of(body.get("webhookId")),
        run=_run(body.get("metadata")),
        pages=parse_documents(body.get("data"), success=success, error=error),
    )


def parse_object(raw: bytes) -> dict[str, Any]:
    """Read a JSON object, even with invalid UTF-8; integers above 18 digits become floats.

    Raises ValueError for anything else.
    """
    try:
        body = json.loads(raw.decode("utf-8-sig", "replace"), parse_int=_integer)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(body, dict):
        raise ValueError("not a JSON object")
    return body


def parse_documents(
    data: Any, *, success: bool | None = True, error: str | None = None
) -> tuple[CrawledPage, ...]:
    """Parse the usable elements of a `data` array, or a single document.

    `success` is None if the response's value is unknown to us.
    """
    documents = data if isinstance(data, list) else [data]
    pages = (
        parse_document(document, success=success, error=error)
        for document in documents
        if isinstance(document, Mapping)
    )
    return tuple(page for page in pages if page is not None)


def parse_document(
    data: Mapping[str, Any], *, success: bool | None, error: str | None
) -> CrawledPage | None:
    """Read one document, or the stub of a page without one; None if it has no URL."""
    inner = _mapping(data.get("content")) or data  # v0 wraps the document
    metadata = _mapping(inner.get("metadata"))
    source = address_of(metadata.get("sourceURL")) or address_of(data.get("source"))
    url = address_of(metadata.get("url")) or source
    if url is None:
        return None
    said = error or error_of(metadata.get("error"))
    return CrawledPage(
        url=url,
        source_url=source or url,
        scrape_id=text_of(metadata.get("scrapeId")),
        status_code=_status(metadata.get("statusCode", metadata.get("pageStatusCode"))),
        markdown=text_of(inner.get("markdown")) or text_of(inner.get("content")) or "",
        title=text_of(metadata.get("title")),
        language=text_of(metadata.get("language")),
        description=text_of(metadata.get("description")),
        links=_links(inner.get("links")),
        outcome=_outcome(data, success, said or ""),
        error=said,
    )


def _kind(type: str | None) -> EventKind:
    product, _, name = (type or "").partition(".")
    known = _KINDS if product in _PRODUCTS else ()
    return next((kind for kind in known if kind == name), "other")


def _success(said: Any) -> bool | None:
    return _SUCCESS.get(said) if isinstance(said, bool | str) else None


def _outcome(data: Mapping[str, Any], success: bool | None, error: str) -> Outcome:
    if success is False:
        return _failure(error)
    own = text_of(data.get("status"))
    is_known = own is None or own.lower() in _DONE
    return "page" if success and is_known and _success(data.get("success", True)) else "unknown"


def _failure(error: str) -> Outcome:
    if any(mark in error for mark in _RACED):
        return "raced"
    return "cancelled" if _CANCELLED in error else "failed"


def _run(metadata: Any) -> dict[str, str]:
    return {
        storable(key): storable(value)
        for key, value in _mapping(metadata).items()
        if isinstance(value, str)
    }


def _links(links: Any) -> tuple[str, ...]:
    if not isinstance(links, list):
        return ()
    found = (address_of(link.get("url") if isinstance(link, dict) else link) for link in links)
    return tuple(dict.fromkeys(link for link in found if link))


def _status(value: Any) -> int | None:
    try:
        status = int(value) if isinstance(value, int | float | str) else 0
    except (ValueError, OverflowError):
        return None
    return status if 100 <= status <= 999 else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _integer(digits: str) -> int | float:
    """Parse an integer of any length: Python refuses more than 4,300 digits, JSON allows them."""
    return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)
