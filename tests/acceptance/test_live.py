"""(g) A WebSocket client that loses its connection again and again misses and doubles nothing."""

import json
import random
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from harness.database import Database
from harness.patience import PATIENCE
from harness.service import KEY, Service
from tests.acceptance.files import text_file
from tests.acceptance.openai_server import EmbeddingServer

_FILES = 60


class Client:
    """Remembers the last `seq` of each source, and asks for what came after."""

    def __init__(self, service: Service, sources: list[str], rng: random.Random) -> None:
        self.seen: defaultdict[str, list[int]] = defaultdict(list)
        self.done: set[str] = set()
        self.connections = 0
        self._url = service.url.replace("http", "ws") + "/api/ws"
        self._sources = sources
        self._rng = rng

    def follow(self, *, connections: int) -> None:
        """Follow until all sources are done, leaving in mid-stream for the first connections."""
        while len(self.done) < len(self._sources):
            self.connections += 1
            # Few enough that there are as many connections even if each source has two events only.
            leave_after = self._rng.randrange(1, 5) if self.connections < connections else None
            self._listen(leave_after)

    def _listen(self, leave_after: int | None) -> None:
        headers = {"Authorization": f"Bearer {KEY}"}
        # Without a bound: a client that leaves with a full queue would wait for the server's
        # goodbye behind it.
        with connect(self._url, additional_headers=headers, max_queue=None) as socket:
            after = {source: seqs[-1] for source, seqs in self.seen.items()}
            socket.send(
                json.dumps(
                    {
                        "type": "subscribe",
                        "knowledgeSourceIds": self._sources,
                        "after": dict.fromkeys(self._sources, 0) | after,
                    }
                )
            )
            heard = 0
            while len(self.done) < len(self._sources):
                try:
                    self._take(json.loads(socket.recv(timeout=PATIENCE)))
                except ConnectionClosed:
                    return
                heard += 1
                if heard == leave_after:
                    return

    def _take(self, message: Any) -> None:
        if message["type"] in ("progress", "job", "source", "done"):
            self.seen[message["knowledgeSourceId"]].append(message["seq"])
        if message["type"] == "done":
            self.done.add(message["knowledgeSourceId"])


def test_a_client_that_reconnects_at_random_sees_every_event_once_and_in_order(
    database: Database, start: Callable[..., Service], openai: EmbeddingServer
) -> None:
    openai.delay = 0.05
    api = start("api", **openai.env()).wait_until_ready()
    start("worker", **openai.env())
    sources = api.upload(text_file(number) for number in range(_FILES))["knowledgeSourceIds"]
    client = Client(api, sources, random.Random(7))

    client.follow(connections=40)

    stored: defaultdict[str, list[int]] = defaultdict(list)
    for source, seq in database.rows(
        "select source_id::text, seq from rag.progress_events order by 1, 2"
    ):
        stored[source].append(seq)
    assert client.connections >= 40
    assert dict(client.seen) == dict(stored)
