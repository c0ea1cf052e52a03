"""A fake service with one site, for tests of the commands."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from api.cli.client.crawl_waiter import CrawlRun

SOURCE = "0191c3a0-0000-7000-8000-000000000001"
JOB, CRAWL = "job-1", "crawl-1"
RUN = CrawlRun(source_id=SOURCE, job_id=JOB, crawl_id=CRAWL)
SITE = "https://site.example/"
DIGEST = {
    "new": 61,
    "changed": 0,
    "unchanged": 2,
    "kept": 0,
    "duplicate": 1,
    "removed": 0,
    "failed": 0,
    "removalsHeld": 0,
    "tokensSpent": 12345,
    "tokensSaved": 7,
}


class FakeCrawls:
    """A service with one source whose run has ended; `bodies` collects the request bodies."""

    def __init__(self) -> None:
        self.bodies: list[Any] = []
        self.status = "completed"
        self.crawl: dict[str, Any] = {
            "id": CRAWL,
            "jobId": JOB,
            "status": "completed",
            "isComplete": True,
            "digest": DIGEST,
            "skipped": {},
        }
        self.newer: list[dict[str, Any]] = []
        """Runs that were started after `crawl`."""
        self.pages: dict[str, list[dict[str, Any]]] = {"failed": [], "skipped": []}

    def answer(self, path: str, query: str, body: Any) -> tuple[int, Any]:
        source = f"/api/knowledge-sources/{SOURCE}"
        if body is not None:
            self.bodies.append(body)
            return 202, {"knowledgeSourceId": SOURCE, "jobId": JOB, "crawlId": CRAWL}
        if path == f"/api/knowledge-source/{SOURCE}/progress":
            return 200, counts(self.status)
        if path == f"{source}/crawls":
            return 200, {"items": [*self.newer, self.crawl], "nextCursor": None}
        if path == f"{source}/pages":
            assert f"crawlId={CRAWL}" in query
            kind = query.rpartition("status=")[2]
            return 200, {"items": self.pages[kind], "nextCursor": None}
        if path == source:
            return 200, self.source()
        if path == "/api/knowledge-sources":
            return 200, {"items": [self.source()], "nextCursor": None}
        raise AssertionError(path)

    def source(self) -> dict[str, Any]:
        return {
            "id": SOURCE,
            "type": "site",
            "uri": SITE,
            "name": "Our site",
            "chunkCount": 99,
            "status": self.status,
            "errorCode": None,
            "errorMessage": None,
            "nextRescrapeAt": "2026-11-29T02:15:09Z",
        }


def counts(
    status: str, *, total: int = 1, completed: int = 0, failed: int = 0, eta: int | None = None
) -> dict[str, Any]:
    return {
        "etaSeconds": eta,
        "status": status,
        "total": total,
        "completed": completed,
        "failed": failed,
        "percent": None,
    }


def job(status: str, *, wait: str | None = None, error: str | None = None) -> dict[str, Any]:
    return {"status": status, "waitReason": wait, "lastErrorMessage": error}


def page(code: str, *, number: int = 0) -> dict[str, Any]:
    return {
        "uri": f"{SITE}{code}/{number}",
        "httpStatus": 404,
        "errorCode": code,
        "errorMessage": "the server responded with HTTP 404",
    }


@contextmanager
def served(fake: FakeCrawls) -> Iterator[str]:
    """Serve `fake` over HTTP; yields its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(None)

        def do_POST(self) -> None:
            self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _answer(self, body: Any) -> None:
            url = urlsplit(self.path)
            status, content = fake.answer(url.path, url.query, body)
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
