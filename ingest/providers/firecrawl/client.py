"""The crawl API of Firecrawl, v2: hosted, or one's own.

Retries are the queue's: here one call is one attempt, and starting a crawl tells apart what surely
did not start from what may have. Messages carry what Firecrawl says, never the key.
"""

import re
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from typing import Any, Final, NoReturn
from urllib.parse import parse_qs, urlsplit

import httpx

from ingest.errors import Permanent, Transient
from ingest.observability import tracing
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
from ingest.providers.firecrawl.text import error_of, text_of
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
# Node closes an idle connection after 5 s. One that is reused in that moment looks like an answer
# that was lost, so ours are closed first.
_LIMITS = httpx.Limits(keepalive_expiry=2)
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
# 408: not known how far the request got. 409: the key was used, by a request whose answer was lost.
_UNCLEAR_STATUS = frozenset({408, 409, 425})
_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")
_WAIT = re.compile(r"retry after (\d{1,6})\s*s", re.IGNORECASE)


class StartUnclear(Transient):
    """The answer to a start was lost or unreadable: the crawl may be running."""

    def __init__(self, what: str) -> None:
        super().__init__(f"Firecrawl may have started the crawl: {what}", code="crawl_not_started")


class CrawlNotFound(Transient):
    """No such crawl: it has expired, or it was started a moment ago."""

    def __init__(self) -> None:
        super().__init__("Firecrawl does not know the crawl", code="crawl_failed")


class FirecrawlClient:
    """All calls but `start` raise CrawlNotFound, or Transient `rate_limited`, `fetch_failed`."""

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str | None,
        timeout: timedelta = _MINUTE,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """`base_url` without `/v2`, with or without a path; `timeout` is for one read or write."""
        self._base = base_url.rstrip("/") + "/v2"
        self._key = api_key
        self._http = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
            timeout=httpx.Timeout(timeout.total_seconds(), connect=_CONNECT_SECONDS),
            limits=_LIMITS,
            transport=transport,
        )

    async def start(self, crawl: StartCrawl) -> str:
        """Start a crawl; its id at Firecrawl.

        Raises Permanent `crawl_not_started` when Firecrawl refuses; Transient `crawl_not_started`
        or `rate_limited` when it surely did not start; StartUnclear when it may have.
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
            raise StartUnclear(f"no answer ({type(error).__name__})") from None
        return self._started(response)

    async def status(self, id: str) -> CrawlStatus:
        """How far a crawl is: one small answer, with at most one page in it."""
        return crawl_status(await self._get(f"{_path(id)}?limit=1"))

    async def pages(self, id: str) -> AsyncIterator[CrawledPage]:
        """All pages that are scraped by now, each once, read in parts of at most 10 MiB or so.

        Failed pages are not among them, see `errors`.
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
            # A crawl that did not complete has a `next` for ever, and a server that ignores
            # `skip` says the same again.
            if not answer.get("next") or not new:
                return
            skip = max(skip + count, _skip_of(answer["next"]))

    async def errors(self, id: str) -> CrawlErrors:
        """The pages that failed and those that robots.txt forbids."""
        return crawl_errors(await self._get(f"{_path(id)}/errors"))

    async def cancel(self, id: str) -> None:
        """Stop a crawl; one that has ended or is unknown is fine. Its pages stay readable."""
        response = await self._send("DELETE", _path(id))
        if response.status_code not in (404, 409):
            self._object(response)

    async def active(self) -> list[ActiveCrawl]:
        """The account's crawls that are running, whoever started them."""
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
                f"Firecrawl gives no answer ({type(error).__name__})", code="fetch_failed"
            ) from None

    async def _request(self, method: str, path: str, **sent: Any) -> httpx.Response:
        with tracing.client_span("firecrawl", {"http.request.method": method}) as span:
            response = await self._http.request(method, self._base + path, **sent)
            span.set_attribute("http.response.status_code", response.status_code)
        return response

    def _object(self, response: httpx.Response) -> dict[str, Any]:
        if response.status_code == 404:
            raise CrawlNotFound
        body = _body_of(response)
        if response.status_code == 429:
            self._raise_rate_limited(response, body)
        # A crawl that could not begin has a status, too, and is no failure of this call.
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
        # A redirect is a refusal, too: following it would turn the POST into a GET.
        if status >= 300 or body.get("success") is False:
            raise Permanent(f"Firecrawl refuses the crawl: {said}", code="crawl_not_started")
        id = text_of(body.get("id"))
        if id is None or not _ID.fullmatch(id):
            raise StartUnclear(f"its answer names no crawl ({said})")
        return id

    def _raise_rate_limited(self, response: httpx.Response, body: Mapping[str, Any]) -> NoReturn:
        said = self._said(response, body)
        wait = retry_after(response.headers)
        if wait is None and (match := _WAIT.search(said)):
            wait = timedelta(seconds=int(match[1]))
        raise Transient(f"Firecrawl limits the rate: {said}", code="rate_limited", retry_after=wait)

    def _said(self, response: httpx.Response, body: Mapping[str, Any]) -> str:
        """The status and the provider's words, without the key in case these repeat it."""
        said = error_of(body.get("error"), secret=self._key)
        return f"HTTP {response.status_code}" + (f": {said}" if said else "")


def _body_of(response: httpx.Response) -> dict[str, Any]:
    """The JSON object of an answer; empty for anything else."""
    try:
        return parse_object(response.content)
    except ValueError:
        return {}


def _path(id: str) -> str:
    """An id may come from an event, and it becomes a part of an address."""
    if not _ID.fullmatch(id):
        raise CrawlNotFound
    return f"/crawl/{id}"


def _skip_of(next: Any) -> int:
    """Only its query is used: its scheme and host are the server's idea of itself."""
    try:
        values = parse_qs(urlsplit(str(next)).query).get("skip", ["0"])
        return int(values[0])
    except ValueError:
        return 0
