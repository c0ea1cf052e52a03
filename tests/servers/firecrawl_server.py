"""A stand-in of Firecrawl: its crawl API and its webhook sender, over made-up sites.

It answers and fails as the real one does, by a seed (see `Behaviour`). Like the open-source sender,
it makes one attempt per event, waits 10 seconds for an answer and keeps no order.
"""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID, uuid4

import httpx

from harness.patience import PATIENCE
from tests.servers.firecrawl_behaviour import Behaviour, Site
from tests.servers.firecrawl_crawls import Crawl, Planned
from tests.servers.firecrawl_events import signature
from tests.servers.firecrawl_requests import complaint
from tests.servers.timetable import Timetable

KEY = "fc-key-of-the-tests"
SECRET = "secret of the tests"
_PREFIX = "/firecrawl"

Answer = tuple[int, Any]
_LOST: Answer = (0, None)


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """One event that was sent."""

    crawl_id: str
    type: str
    body: bytes
    status: int | None
    """None: no answer in time."""


class FirecrawlServer:
    """Give it `sites` by their first address, and `behaviours` by the same; see `crawls`."""

    def __init__(self, *, key: str | None = KEY, secret: str | None = SECRET) -> None:
        """Without `key` anybody may ask; without `secret` events are not signed."""
        self.sites: dict[str, Site] = {}
        self.behaviours: dict[str, Behaviour] = {}
        self.crawls: list[Crawl] = []
        self.deliveries: list[Delivery] = []
        self.requests: Counter[str] = Counter()
        """By method and path."""
        self._key, self._secret = key, secret
        self._used_keys: set[str] = set()
        self._refused: Counter[str] = Counter()
        self._lock = threading.RLock()
        self._sender = Timetable()
        self._client = httpx.Client(timeout=PATIENCE, trust_env=False)
        self._server = _http_server(self)
        self.url = f"http://127.0.0.1:{self._server.server_port}{_PREFIX}"
        """A base address with a path, which clients have to keep."""

    def env(self) -> dict[str, str]:
        """Settings of a service that is to use it; INGEST_PUBLIC_URL is the service's own."""
        return {
            "INGEST_CRAWLER": "firecrawl",
            "FIRECRAWL_API_URL": self.url,
            "FIRECRAWL_API_KEY": self._key or "",
            "FIRECRAWL_WEBHOOK_SECRET": self._secret or "",
        }

    def crawl_of(self, url: str) -> Crawl:
        """The only crawl that was started there."""
        [crawl] = [crawl for crawl in self.crawls if crawl.url == url]
        return crawl

    def settle(self, seconds: float = 30) -> None:
        """Wait until nothing is left to be sent."""
        self._sender.wait(seconds)

    def send(self, url: str, body: bytes, *, crawl_id: str = "", type: str = "") -> int | None:
        """Deliver one event, signed, in one attempt; its HTTP status, None without an answer."""
        headers = {"Content-Type": "application/json", "User-Agent": "undici"}
        if self._secret:
            headers["X-Firecrawl-Signature"] = signature(body, self._secret.encode()).decode()
        try:
            status = self._client.post(url, content=body, headers=headers).status_code
        except httpx.HTTPError:
            status = None
        delivery = Delivery(crawl_id=crawl_id, type=type, body=body, status=status)
        with self._lock:
            self.deliveries.append(delivery)
        return status

    def answer(self, method: str, target: str, headers: Any, body: bytes) -> Answer:
        """The API; `_LOST` closes the connection instead."""
        parts = urlsplit(target)
        with self._lock:
            self.requests[f"{method} {parts.path.removeprefix(_PREFIX)}"] += 1
        if self._key and headers.get("Authorization") != f"Bearer {self._key}":
            return _refusal(401, "Unauthorized: Invalid token")
        if not parts.path.startswith(f"{_PREFIX}/v2/crawl"):
            return _refusal(404, f"Cannot {method} {parts.path}")
        match [method, *parts.path.removeprefix(f"{_PREFIX}/v2/crawl").strip("/").split("/")]:
            case ["POST", ""]:
                return self._start(headers.get("x-idempotency-key"), body)
            case ["GET", "active" | "ongoing"]:
                return self._active()
            case [_, id, *rest]:
                return self._one(method, id, rest, parse_qs(parts.query))
        return _refusal(404, f"Cannot {method} {parts.path}")

    def serve(self) -> None:
        self._server.serve_forever(poll_interval=0.05)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._sender.close()
        self._client.close()

    def _start(self, key: str | None, body: bytes) -> Answer:
        try:
            request = json.loads(body)
        except ValueError:
            return _refusal(400, "Bad request, malformed JSON")
        with self._lock:
            if key is not None:  # it is kept before the request is looked at
                if key in self._used_keys:
                    return _refusal(409, "Idempotency key already used")
                self._used_keys.add(key)
            if fault := complaint(request):
                return _refusal(400, fault)
            behaviour = self.behaviours.get(request["url"], Behaviour())
            self._refused[request["url"]] += 1
            if self._refused[request["url"]] <= behaviour.refused_starts:
                return _refusal(429, "Rate limit exceeded. Please retry after 1s, resets soon")
            crawl = self._begin(request, behaviour)
        time.sleep(behaviour.start_seconds)
        if behaviour.lost_start:
            return _LOST
        return 200, {"success": True, "id": crawl.id, "url": f"https://{crawl.id}.invalid"}

    def _begin(self, request: Any, behaviour: Behaviour) -> Crawl:
        site = self.sites.get(request["url"], {})
        crawl = Crawl(id=str(uuid4()), request=request, site=site, behaviour=behaviour)
        self.crawls.append(crawl)
        for planned in crawl.plan():
            self._sender.at(planned.at, self._delivery(crawl, planned))
        if behaviour.cancelled_at is not None:
            self._sender.at(behaviour.cancelled_at * crawl.end, lambda: self._cancel(crawl))
        return crawl

    def _delivery(
        self, crawl: Crawl, planned: Planned, *, anyway: bool = False
    ) -> Callable[[], None]:
        def deliver() -> None:
            webhook = crawl.webhook_url
            if webhook is not None and (anyway or crawl.is_still_true(planned)):
                self.send(webhook, planned.body, crawl_id=crawl.id, type=planned.type)

        return deliver

    def _cancel(self, crawl: Crawl) -> None:
        with self._lock:
            stubs = crawl.cancel() if crawl.state == "scraping" else []
        for planned in stubs:
            self._sender.at(0, self._delivery(crawl, planned, anyway=True))

    def _active(self) -> Answer:
        crawls = [
            {
                "id": crawl.id,
                "teamId": "bypass",
                "url": crawl.url,
                "created_at": crawl.created_at.isoformat().replace("+00:00", "Z"),
                "options": {},
            }
            for crawl in self.crawls
            if crawl.state == "scraping"
        ]
        return 200, {"success": True, "crawls": crawls}

    def _one(self, method: str, id: str, rest: list[str], query: dict[str, list[str]]) -> Answer:
        try:
            UUID(id)
        except ValueError:
            return _refusal(400, "Invalid job ID format. Job ID must be a valid UUID.")
        crawl = next((crawl for crawl in self.crawls if crawl.id == id), None)
        if crawl is None:
            return _refusal(404, "Job not found")
        match [method, *rest]:
            case ["GET"]:
                return self._read(crawl, query)
            case ["GET", "errors"]:
                return 200, crawl.errors()
            case ["DELETE"] if crawl.state == "completed":
                return _refusal(409, "Crawl is already completed")
            case ["DELETE"]:
                self._cancel(crawl)
                return 200, {"status": "cancelled"}
        return _refusal(404, f"Cannot {method}")

    def _read(self, crawl: Crawl, query: dict[str, list[str]]) -> Answer:
        with self._lock:
            crawl.reads += 1
            if crawl.reads <= crawl.behaviour.unknown_reads:
                return _refusal(404, "Job not found")
        given = query.get("limit", [str(crawl.behaviour.part)])[0]
        if not given.isdecimal() or not 1 <= int(given) <= 1000:
            return _refusal(400, "limit must be between 1 and 1000")
        if crawl.behaviour.kickoff_fails:
            failed = {"success": False, "status": "failed", "error": "Kickoff failed", "data": []}
            return 200, failed
        return 200, self._part(crawl, skip=int(query.get("skip", ["0"])[0]), limit=int(given))

    def _part(self, crawl: Crawl, *, skip: int, limit: int) -> Any:
        state, documents = crawl.state, crawl.documents()
        part = documents[skip : skip + limit]
        waiting = len(crawl.jobs) - len(crawl.scraped()) if state == "scraping" else 0
        answer = {
            "success": True,
            "status": state,
            "completed": len(documents),
            "total": len(documents) + waiting,
            "creditsUsed": -1,
            "expiresAt": "2099-01-01T00:00:00.000Z",
            "data": part,
        }
        end = skip + len(part)
        # For ever unless it completed, and with the server's own idea of its address.
        if state != "completed" or end < len(documents):
            answer["next"] = f"https://firecrawl.invalid/v2/crawl/{crawl.id}?skip={end}"
        return answer


def _refusal(status: int, error: str) -> Answer:
    return status, {"success": False, "error": error}


def _http_server(api: FirecrawlServer) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self._respond()

        def do_GET(self) -> None:
            self._respond()

        def do_DELETE(self) -> None:
            self._respond()

        def _respond(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, answer = api.answer(self.command, self.path, self.headers, body)
            if status == 0:
                self.close_connection = True
                return
            payload = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json; charset=utf-8")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, format: str, *args: Any) -> None: ...

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

        def handle_error(self, request: Any, client_address: Any) -> None:
            """Clients are killed in these tests; a broken pipe is nothing to report."""

    return Server(("127.0.0.1", 0), Handler)


@contextmanager
def firecrawl_server(
    *, key: str | None = KEY, secret: str | None = SECRET
) -> Iterator[FirecrawlServer]:
    """Run it in threads of this process."""
    server = FirecrawlServer(key=key, secret=secret)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join()
