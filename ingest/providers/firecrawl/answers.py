"""Request and response bodies of the crawl API. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal
from uuid import UUID

from ingest.providers.firecrawl.events import CrawledPage, parse_document
from ingest.providers.firecrawl.storable_values import address_of, error_of, text_of

CrawlState = Literal["scraping", "completed", "failed", "cancelled"]

_ENDS: Final[tuple[CrawlState, ...]] = ("completed", "failed", "cancelled")
_EVENTS = ("started", "page", "completed", "failed")


@dataclass(frozen=True, slots=True, kw_only=True)
class StartCrawl:
    """The parameters of a crawl."""

    url: str
    limit: int
    max_depth: int | None
    """Links to follow from `url`; None: no limit."""
    include_paths: Sequence[str]
    """Regular expressions on the path; empty: all paths."""
    exclude_paths: Sequence[str]
    run: Mapping[str, str]
    """Metadata that Firecrawl repeats in every event."""
    webhook_url: str | None
    """None: no events; the crawl is only polled."""
    idempotency_key: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlStatus:
    """The progress of a crawl."""

    status: CrawlState
    """`scraping` also for unknown states."""
    total: int
    """Excludes failed pages, as does `completed`: equal values prove nothing."""
    completed: int
    is_counted: bool = field(default=True, compare=False)
    """Whether the response holds valid counts."""
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlErrors:
    """The URLs that did not become pages."""

    failed: tuple[CrawledPage, ...]
    """Pages with the outcome `failed`, `raced` or `cancelled`."""
    robots_blocked: tuple[str, ...]
    unnamed: int = 0
    """Number of failures without a URL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveCrawl:
    """A running crawl."""

    id: str
    url: str
    created_at: datetime | None


def start_body(crawl: StartCrawl) -> dict[str, Any]:
    """The body of `POST /v2/crawl`, which refuses unknown keys."""
    body: dict[str, Any] = {
        "url": crawl.url,
        "limit": crawl.limit,
        "sitemap": "include",
        "crawlEntireDomain": True,
        "includePaths": list(crawl.include_paths),
        "excludePaths": list(crawl.exclude_paths),
        "scrapeOptions": {
            "formats": ["markdown", "links"],
            "onlyMainContent": True,
            "maxAge": 0,  # fetch anew; by default copies may be two days old
        },
    }
    if crawl.max_depth is not None:
        body["maxDiscoveryDepth"] = crawl.max_depth
    if crawl.webhook_url is not None:
        body["webhook"] = {
            "url": crawl.webhook_url,
            "metadata": dict(crawl.run),
            "events": list(_EVENTS),
        }
    return body


def crawl_status(answer: Mapping[str, Any]) -> CrawlStatus:
    """Read a status response; a crawl that could not start has `success` false, status `failed`."""
    said = text_of(answer.get("status"))
    return CrawlStatus(
        status=next((end for end in _ENDS if end == said), "scraping"),
        total=_count(answer.get("total")),
        completed=_count(answer.get("completed")),
        is_counted=answer.get("success") is not False
        and all(isinstance(answer.get(name), int) for name in ("total", "completed")),
        error=error_of(answer.get("error")),
    )


def crawl_errors(answer: Mapping[str, Any]) -> CrawlErrors:
    failed = [_failed_page(item) for item in _items(answer.get("errors"))]
    blocked = answer.get("robotsBlocked")
    addresses = map(address_of, blocked if isinstance(blocked, list) else [])
    return CrawlErrors(
        failed=tuple(page for page in failed if page is not None),
        robots_blocked=tuple(dict.fromkeys(url for url in addresses if url)),
        unnamed=failed.count(None),
    )


def active_crawls(answer: Mapping[str, Any]) -> list[ActiveCrawl]:
    return [
        ActiveCrawl(id=id, url=url, created_at=_time(item.get("created_at")))
        for item in _items(answer.get("crawls"))
        if (id := text_of(item.get("id"))) and (url := address_of(item.get("url")))
    ]


def _failed_page(item: Mapping[str, Any]) -> CrawledPage | None:
    code, error = text_of(item.get("code")), error_of(item.get("error"))
    said = ": ".join(part for part in (code, error) if part) or None
    stub = {"metadata": {"sourceURL": item.get("url")}}
    return parse_document(stub, success=False, error=said)


def _items(value: Any) -> list[Mapping[str, Any]]:
    items = value if isinstance(value, list) else []
    return [item for item in items if isinstance(item, Mapping)]


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _time(value: Any) -> datetime | None:
    try:
        time = datetime.fromisoformat(text_of(value) or "")
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
