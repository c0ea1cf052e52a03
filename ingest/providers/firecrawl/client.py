"""Client of Firecrawl's crawl API v2, hosted or self-hosted.

The queue does the retries: here one call is one attempt. Errors of `start` tell a crawl that surely
did not start from one that may have. Messages hold Firecrawl's words, never the key.
"""

import re
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from typing import Any, Final, NoReturn
from urllib.parse import parse_qs, urlsplit

import httpx

from ingest.errors import Permanent, Transient
from ingest.observability import tracing
from ingest.providers.bounded_request import bounded_request
from ingest.providers.firecrawl.answers import (
    ActiveCrawl,
    CrawlErrors,
    CrawlStatus,
    StartCrawl,
    active_crawls,
    crawl_errors,
    crawl_status,
    start_body,
)
from ingest.providers.firecrawl.events import CrawledPage, parse_documents, parse_object
from ingest.providers.firecrawl.storable_values import error_of, text_of
from ingest.providers.retry_after import retry_after

__all__ = [
    "HOSTED",
    "ActiveCrawl",
    "CrawlErrors",
    "CrawlNotFound",
    "CrawlStatus",
    "FirecrawlClient",
    "StartCrawl",
    "StartUnclear",
]

HOSTED: Final = "https://api.firecrawl.dev"

_MINUTE = timedelta(seconds=60)
_CONNECT_SECONDS = 10
# Firecrawl sends parts of about 10 MiB, or one page that is larger.
_MAX_BODY_BYTES = 128 * 1024 * 1024
# Node closes an idle connection after 5 s. A request sent just then looks like a lost response,
# so we close idle connections earlier.
_LIMITS = httpx.Limits(keepalive_expiry=2)
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
# 408: the request may have arrived. 409: the idempotency key was used by a request whose response
# was lost.
_UNCLEAR_STATUS = frozenset({408, 409, 425})
_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")
_WAIT = re.compile(r"retry after (\d{1,6})\s*s", re.IGNORECASE)


class StartUnclear(Transient):
    """The response to `start` was lost or unreadable; the crawl may be running."""

    def __init__(self, what: str) -> None:
        super().__init__(f"Firecrawl may have started the crawl: {what}", code="crawl_not_started")


class CrawlNotFound(Transient):
    """Firecrawl does not know the crawl: it has expired, or was only just started."""

    def __init__(self) -> None:
        super().__init__("Firecrawl does not know the crawl", code="crawl_failed")


class FirecrawlClient:
    """All calls except `start` raise CrawlNotFound or Transient `rate_limited`, `fetch_failed`."""

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str | None,
        timeout: timedelta = _MINUTE,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """`base_url`: without `/v2`, may have a path. `timeout`: for a single read or write."""
        self._base = base_url.rstrip("/") + "/v2"
        self._key = api_key
        self._http = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
            timeout=httpx.Timeout(timeout.total_seconds(), connect=_CONNECT_SECONDS),
            limits=_LIMITS,
            transport=transport,
        )

    async def start(self, crawl: StartCrawl) -> str:
        """Start a crawl; return its id at Firecrawl.

        Raises Permanent `crawl_not_started` if Firecrawl refuses; Transient `crawl_not_started` or
        `rate_limited` if it surely did not start; StartUnclear if it may have.
        """
        try:
            response = await self._request(
                "POST",
                "/crawl",
                json=start_body(crawl),
                headers={"x-idempotency-key": str(crawl.idempotency_key)},
            )
        except _NOT_SENT as error:
            raise Transient(
                f"Firecrawl cannot be reached ({type(error).__name__})", code="crawl_not_started"
            ) from None
        except httpx.RequestError as error:
            raise StartUnclear(f"no response ({type(error).__name__})") from None
        return self._started(response)

    async def status(self, id: str) -> CrawlStatus:
        """The progress of a crawl; a small response with at most one page."""
        return crawl_status(await self._get(f"{_path(id)}?limit=1"))

    async def pages(self, id: str) -> AsyncIterator[CrawledPage]:
        """All pages scraped so far, without duplicates, read in parts of about 10 MiB at most.

        Failed pages are not included; see `errors`.
        """
        skip, seen = 0, set[str]()
        while True:
            answer = await self._get(f"{_path(id)}?skip={skip}")
            documents = answer.get("data")
            count = len(documents) if isinstance(documents, list) else 0
            new = 0
            for page in parse_documents(documents):
                key = page.scrape_id or page.source_url
                if key not in seen:
                    seen.add(key)
                    new += 1
                    yield page
            # An incomplete crawl always has a `next`, and a server that ignores `skip` repeats the
            # same pages.
            if not answer.get("next") or not new:
                return
            skip = max(skip + count, _skip_of(answer["next"]))

    async def errors(self, id: str) -> CrawlErrors:
        """The pages that failed, and those that robots.txt forbids."""
        return crawl_errors(await self._get(f"{_path(id)}/errors"))

    async def cancel(self, id: str) -> None:
        """Stop a crawl; no error if it has ended or is unknown. Its pages stay readable."""
        response = await self._send("DELETE", _path(id))
        if response.status_code not in (404, 409):
            self._object(response)

    async def active(self) -> list[ActiveCrawl]:
        """All running crawls of the account, including those we did not start."""
        return active_crawls(await self._get("/crawl/active"))

    async def close(self) -> None:
        await self._http.aclose()

    async def _get(self, path: str) -> dict[str, Any]:
        return self._object(await self._send("GET", path))

    async def _send(self, method: str, path: str) -> httpx.Response:
        try:
            return await self._request(method, path)
        except httpx.RequestError as error:
            raise Transient(
                f"Firecrawl does not respond ({type(error).__name__})", code="fetch_failed"
            ) from None

    async def _request(self, method: str, path: str, **sent: Any) -> httpx.Response:
        with tracing.client_span("firecrawl", {"http.request.method": method}) as span:
            response = await bounded_request(
                self._http, method, self._base + path, max_bytes=_MAX_BODY_BYTES, **sent
            )
            span.set_attribute("http.response.status_code", response.status_code)
        return response

    def _object(self, response: httpx.Response) -> dict[str, Any]:
        if response.status_code == 404:
            raise CrawlNotFound
        body = _body_of(response)
        if response.status_code == 429:
            self._raise_rate_limited(response, body)
        # A crawl that could not start also has a `status`; the call itself succeeded.
        failed = body.get("success") is False and "status" not in body
        if not response.is_success or not body or failed:
            raise Transient(f"Firecrawl: {self._said(response, body)}", code="fetch_failed")
        return body

    def _started(self, response: httpx.Response) -> str:
        status, body = response.status_code, _body_of(response)
        said = self._said(response, body)
        if status == 429:
            self._raise_rate_limited(response, body)
        if status >= 500 or status in _UNCLEAR_STATUS:
            raise StartUnclear(said)
        # A redirect counts as a refusal: following it would turn the POST into a GET.
        if status >= 300 or body.get("success") is False:
            raise Permanent(f"Firecrawl refused the crawl: {said}", code="crawl_not_started")
        id = text_of(body.get("id"))
        if id is None or not _ID.fullmatch(id):
            raise StartUnclear(f"the response has no crawl id ({said})")
        return id

    def _raise_rate_limited(self, response: httpx.Response, body: Mapping[str, Any]) -> NoReturn:
        said = self._said(response, body)
        wait = retry_after(response.headers)
        if wait is None and (match := _WAIT.search(said)):
            wait = timedelta(seconds=int(match[1]))
        raise Transient(
            f"Firecrawl's rate limit was reached: {said}", code="rate_limited", retry_after=wait
        )

    def _said(self, response: httpx.Response, body: Mapping[str, Any]) -> str:
        """The HTTP status and the provider's message, with the key removed."""
        said = error_of(body.get("error"), secret=self._key)
        return f"HTTP {response.status_code}" + (f": {said}" if said else "")


def _body_of(response: httpx.Response) -> dict[str, Any]:
    """The JSON object of a response; empty if the body is not one."""
    try:
        return parse_object(response.content)
    except ValueError:
        return {}


def _path(id: str) -> str:
    """Validate the id, which may come from an event, before it becomes part of a URL."""
    if not _ID.fullmatch(id):
        raise CrawlNotFound
    return f"/crawl/{id}"


def _skip_of(next: Any) -> int:
    """`skip` from the query of `next`; its host is ignored, as it may not be reachable for us."""
    try:
        values = parse_qs(urlsplit(str(next)).query).get("skip", ["0"])
        return int(values[0])
    except ValueError:
        return 0
