"""A crawl of the stand-in of Firecrawl, and an inbox for its events."""

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4

from harness.patience import PATIENCE
from ingest.providers.firecrawl.client import (
    FirecrawlClient,
    StartCrawl,
)
from ingest.providers.firecrawl.events import FirecrawlEvent, parse_event
from ingest.providers.firecrawl.signature import Signature
from tests.servers.firecrawl_behaviour import SitePage
from tests.servers.firecrawl_server import SECRET

SEED = "https://shop.test/"


def pages(count: int) -> dict[str, SitePage]:
    return {f"{SEED}{n}": SitePage(markdown=f"# {n}") for n in range(count)}


class Inbox:
    """A webhook endpoint that keeps what comes, in its order."""

    def __init__(self) -> None:
        self.events: list[FirecrawlEvent] = []
        self.has_page = threading.Event()
        inbox = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                signature = Signature([SECRET.encode()])
                signature.feed(body)
                if signature.matches(self.headers["X-Firecrawl-Signature"].encode()):
                    inbox.take(parse_event(body))
                self.send_response(200)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None: ...

        class Server(ThreadingHTTPServer):
            request_queue_size = 128

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"

    def take(self, event: FirecrawlEvent) -> None:
        self.events.append(event)
        if event.kind == "page":
            self.has_page.set()

    def kinds(self) -> list[str]:
        return [event.kind for event in self.events]

    def urls(self) -> Counter[str]:
        return Counter(page.url for event in self.events for page in event.pages)


@contextmanager
def running(inbox: Inbox) -> Iterator[Inbox]:
    thread = threading.Thread(target=lambda: inbox.server.serve_forever(poll_interval=0.01))
    thread.start()
    try:
        yield inbox
    finally:
        inbox.server.shutdown()
        inbox.server.server_close()
        thread.join()


def asked(webhook: str | None = None, *, limit: int = 1000, **patterns: list[str]) -> StartCrawl:
    return StartCrawl(
        url=SEED,
        limit=limit,
        max_depth=None,
        include_paths=patterns.get("include", []),
        exclude_paths=patterns.get("exclude", []),
        run={"crawl_id": "c1"},
        webhook_url=webhook,
        idempotency_key=uuid4(),
    )


async def ended(client: FirecrawlClient, id: str) -> str:
    """Its state when it is no longer scraping."""
    async with asyncio.timeout(PATIENCE):
        while (status := (await client.status(id)).status) == "scraping":  # noqa: ASYNC110  # it is asked
            await asyncio.sleep(0)
    return status


async def read(client: FirecrawlClient, id: str) -> list[str]:
    return sorted([page.url async for page in client.pages(id)])
