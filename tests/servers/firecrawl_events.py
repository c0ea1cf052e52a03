"""Makers of raw webhook events, as Firecrawl's own sender writes and signs them."""

import hashlib
import hmac
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4

RACED = (
    "This URL was not scraped because another scrape job in this same crawl or batch scrape has "
    "already scraped this URL (usually due to a redirect). This is an expected error used to "
    "prevent duplicate scrapes of the same URL and ensure efficiency."
)
CANCELLED = (
    "This scrape was not completed because the parent crawl or batch scrape was cancelled. This "
    "happens when you call the cancel endpoint on a crawl or batch scrape, or when the operation "
    "is stopped for another reason."
)


def event(
    type: str,
    *,
    id: str,
    data: Sequence[Any] = (),
    error: Any = None,
    run: Mapping[str, str] | None = None,
    webhook_id: UUID | None = None,
) -> bytes:
    """One event of v1 or v2; `success` is false when there is an error."""
    body = {
        "success": error is None,
        "type": type,
        "id": id,
        "webhookId": str(webhook_id or uuid4()),
        "data": list(data),
        **({} if error is None else {"error": error}),
        "metadata": dict(run or {}),
    }
    return compact(body)


def document(
    url: str,
    markdown: str,
    *,
    source_url: str | None = None,
    scrape_id: str | None = None,
    status: int = 200,
    links: Sequence[str] = (),
    **metadata: Any,
) -> dict[str, Any]:
    """One scraped page, with the noise that real metadata has."""
    return {
        "markdown": markdown,
        "links": list(links),
        "metadata": {
            "viewport": "width=device-width",
            "keywords": ["one", "two"],
            "ogLocaleAlternate": [],
            **metadata,
            "scrapeId": scrape_id or str(uuid4()),
            "sourceURL": source_url or url,
            "url": url,
            "statusCode": status,
            **({"error": "Not Found"} if status == 404 else {}),
            "contentType": "text/html; charset=utf-8",
            "proxyUsed": "basic",
            "cacheState": "miss",
            "creditsUsed": 1,
        },
    }


def stub(source_url: str) -> dict[str, Any]:
    """All that an event says of a page without a document; why is in the event's `error`."""
    return {"metadata": {"sourceURL": source_url}}


def compact(body: Any) -> bytes:
    """JSON as JavaScript writes it: UTF-8 as it is, but lone surrogates as escapes."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half.group()):04x}", text).encode()


def signature(body: bytes, secret: bytes) -> bytes:
    """The value of `X-Firecrawl-Signature`."""
    return b"sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest().encode()
