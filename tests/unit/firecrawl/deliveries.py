"""Deliveries of Firecrawl, as they are read."""

from typing import Any

from ingest.providers.firecrawl.events import (
    CrawledPage,
    FirecrawlEvent,
    parse_event,
)
from tests.servers.firecrawl_events import compact

ID = "0199aaaa-0000-7000-8000-000000000001"


def read(**body: Any) -> FirecrawlEvent:
    return parse_event(compact(body))


def only_page(found: FirecrawlEvent) -> CrawledPage:
    [page] = found.pages
    return page


def page_of(metadata: dict[str, Any], **parts: Any) -> CrawledPage:
    """The page of an event with this document."""
    metadata = {"sourceURL": "https://shop.test/d", **metadata}
    return only_page(read(type="crawl.page", data=[{"metadata": metadata, **parts}]))
