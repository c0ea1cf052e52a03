"""Response time of webhooks while 8 MB bodies are arriving.

Several senders deliver distinct bodies of 8 MB, one after the other, at a limited rate. Meanwhile
another sender delivers small events, and measures each from its last byte sent to the status line.
Senders and service share this machine's processors.
"""

import hashlib
import hmac
import http.client
import json
import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Final
from uuid import uuid4

from api.routes.crawls.firecrawl_webhook import FIRECRAWL_PATH
from benchmarks.core.results import Table

SECRET: Final = "secret of the benchmark"
_LARGE = 8 * 1024 * 1024
_PIECE = 64 * 1024
_PAUSE_SECONDS = 0.01

Body = tuple[bytes, str]
"""A body and its signature."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    events: int
    """Number of small events without large ones; also the maximum beside large ones."""
    large: int
    at_once: int
    """Number of concurrent senders of large events."""
    rate: float
    """Megabytes per second of each sender."""


def answers(port: int, traffic: Traffic) -> Table:
    """Milliseconds of small events alone, of small events beside large ones, and of the large ones.

    The API at this port uses SECRET, and no worker processes the events.
    """
    alone = _small(port, "alone", traffic.events, beside=())
    floods, taken = _floods(port, traffic)
    beside = _small(port, "beside", traffic.events, beside=floods)
    for flood in floods:
        flood.join()
    rows = {
        "small events, nothing else": alone,
        f"small events beside {traffic.at_once} senders of large ones": beside,
        "the large ones": taken,
    }
    return Table(
        title="How soon webhooks are answered",
        columns=["", "p50", "p99", "longest", "events"],
        rows=[[name, *_summary(values)] for name, values in rows.items()],
        note=(
            "Milliseconds from the last byte of a signed event to the status line. Large: "
            f"{_LARGE // 1024**2} MiB each, sent at {traffic.rate:g} MB/s."
        ),
    )


class _Sender:
    """One connection that delivers signed events."""

    def __init__(self, port: int) -> None:
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def close(self) -> None:
        self._http.close()

    def send(self, body: bytes, signed: str, *, rate: float = 0) -> float:
        """Milliseconds from the last byte of the body to the status line."""
        headers = {
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "X-Firecrawl-Signature": signed,
        }
        self._http.request("POST", FIRECRAWL_PATH, _paced(body, rate) if rate else body, headers)
        sent = time.perf_counter()
        answer = self._http.getresponse()
        taken = time.perf_counter() - sent
        answer.read()
        assert answer.status == 200, answer.status
        return taken * 1000


def _paced(body: bytes, rate: float) -> Iterator[bytes]:
    """The body in pieces, at `rate` MB/s."""
    started = time.perf_counter()
    for start in range(0, len(body), _PIECE):
        due = started + start / (rate * 1e6)
        time.sleep(max(due - time.perf_counter(), 0))
        yield body[start : start + _PIECE]


def _body(name: str, number: int, size: int) -> Body:
    """An event with one scraped page, in Firecrawl's format, and its signature."""
    url = f"https://{name}.test/{number}"
    metadata = {"scrapeId": str(uuid4()), "sourceURL": url, "url": url, "statusCode": 200}
    page = {"markdown": "word " * (size // 5), "links": [], "metadata": metadata}
    event = {"success": True, "type": "crawl.page", "id": name, "data": [page], "metadata": {}}
    body = json.dumps(event).encode()
    return body, "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()


def _floods(port: int, traffic: Traffic) -> tuple[list[threading.Thread], list[float]]:
    """Start the senders of large events; also returns the list to which they append their times."""
    bodies = [_body("large", number, _LARGE) for number in range(traffic.large)]
    taken: list[float] = []

    def flood(own: Sequence[Body]) -> None:
        with closing(_Sender(port)) as sender:
            for body, signed in own:
                taken.append(sender.send(body, signed, rate=traffic.rate))

    threads = [
        threading.Thread(target=flood, args=(bodies[part :: traffic.at_once],))
        for part in range(traffic.at_once)
    ]
    for thread in threads:
        thread.start()
    return threads, taken


def _small(
    port: int, name: str, count: int, *, beside: Sequence[threading.Thread]
) -> Sequence[float]:
    """Milliseconds of each small event; stops early when all senders in `beside` have ended."""
    taken: list[float] = []
    bodies = [_body(name, number, 2000) for number in range(count)]
    with closing(_Sender(port)) as sender:
        for body, signed in bodies:
            if taken and beside and not any(thread.is_alive() for thread in beside):
                break
            taken.append(sender.send(body, signed))
            time.sleep(_PAUSE_SECONDS)
    return taken


def _summary(taken: Sequence[float]) -> list[str]:
    p99 = statistics.quantiles(taken, n=100)[98] if len(taken) > 1 else taken[0]
    figures = (statistics.median(taken), p99, max(taken))
    return [*(f"{figure:.1f}" for figure in figures), str(len(taken))]
