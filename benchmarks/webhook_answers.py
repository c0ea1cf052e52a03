"""How soon a webhook is answered while 8 MB bodies are on their way in.

    python -m benchmarks.webhook_answers [--events 500] [--large 40] [--at-once 3] [--rate 50]

Some senders deliver distinct bodies of 8 MB, each at `--rate` MB/s (0: as fast as the machine
can), one after the other; meanwhile another delivers small
events and times each, from the last byte that it sent to the status line. Prints the median and the
99th percentile with and without the large ones. Sender and service share this machine's processors.
"""

import argparse
import http.client
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from api.webhooks import FIRECRAWL_PATH
from ingest.embedded import EmbeddedPostgres
from tests.acceptance.service import Service, services
from tests.firecrawl_events import document, event, signature

_SECRET = b"secret of the benchmark"
_LARGE = 8 * 1024 * 1024
_PIECE = 64 * 1024
_PAUSE_SECONDS = 0.01


class Sender:
    """One connection that delivers signed events."""

    def __init__(self, port: int) -> None:
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

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


def _body(name: str, number: int, size: int) -> tuple[bytes, str]:
    page = document(f"https://{name}.test/{number}", "word " * (size // 5))
    body = event("crawl.page", id=name, data=[page])
    return body, signature(body, _SECRET).decode()


def _flood(port: int, bodies: Sequence[tuple[bytes, str]], taken: list[float], rate: float) -> None:
    sender = Sender(port)
    for body, signed in bodies:
        taken.append(sender.send(body, signed, rate=rate))


def _small(port: int, name: str, count: int, *, while_alive: Sequence[threading.Thread]) -> str:
    sender, taken = Sender(port), []
    bodies = [_body(name, number, 2000) for number in range(count)]
    for body, signed in bodies:
        if while_alive and not any(thread.is_alive() for thread in while_alive):
            break
        taken.append(sender.send(body, signed))
        time.sleep(_PAUSE_SECONDS)
    return _summary(taken)


def _summary(taken: Sequence[float]) -> str:
    p99 = statistics.quantiles(taken, n=100)[98]
    return f"p50 {statistics.median(taken):5.1f} ms   p99 {p99:5.1f} ms   n {len(taken)}"


def measure(service: Service, *, events: int, large: int, at_once: int, rate: float) -> None:
    port = service.port
    print("small events, nothing else ", _small(port, "alone", events, while_alive=()))
    bodies = [_body("large", number, _LARGE) for number in range(large)]
    taken: list[float] = []
    floods = [
        threading.Thread(target=_flood, args=(port, bodies[part::at_once], taken, rate))
        for part in range(at_once)
    ]
    for flood in floods:
        flood.start()
    summary = _small(port, "beside", events, while_alive=floods)
    for flood in floods:
        flood.join()
    print(f"small events, {at_once} x 8 MB   ", summary)
    print("the 8 MB events themselves  ", _summary(taken))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=500)
    parser.add_argument("--large", type=int, default=40)
    parser.add_argument("--at-once", type=int, default=3)
    parser.add_argument("--rate", type=float, default=50)
    wanted = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddedPostgres(Path(folder) / "server") as dsn,
    ):
        data = Path(folder) / "data"
        data.mkdir()
        env = {"DATABASE_URL": dsn, "FIRECRAWL_WEBHOOK_SECRET": _SECRET.decode()}
        with services(data=data, env=env) as start:
            service = start("api").wait_until_ready()
            measure(service, **vars(wanted))


if __name__ == "__main__":
    main()
