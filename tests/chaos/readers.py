"""Those who only read, all the time: searches over the walls, WebSockets, event streams."""

import json
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import httpx
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from tests.chaos.client import Client, Log
from tests.chaos.contents import make_file, marks, some_words
from tests.chaos.installation import Installation
from tests.chaos.model import ApplicationModel

_PAUSE = 0.5
"""Seconds between two looks: reads must leave a slow machine time for the work."""
_EVENTS = frozenset({"progress", "job", "source", "done"})


class Reader(threading.Thread):
    """Repeats `look` until it is stopped; a reader never changes anything."""

    def __init__(self, name: str, log: Log) -> None:
        super().__init__(name=name, daemon=True)
        self.log = log
        self.stop_asked = threading.Event()
        self.rounds = 0

    def look(self) -> None:
        raise NotImplementedError

    def stop(self) -> None:
        self.stop_asked.set()

    def run(self) -> None:
        try:
            while not self.stop_asked.wait(_PAUSE):
                self.look()
                self.rounds += 1
        except Exception as error:
            self.log.report("checker", f"{self.name}: {error!r}")
            raise


class Searcher(Reader):
    """Asks for its own and for others' words, lists and ids; all that comes must be its own."""

    def __init__(
        self, models: Sequence[ApplicationModel], own: ApplicationModel, client: Client, rng: Random
    ) -> None:
        super().__init__(f"searcher-{own.number}", client.log)
        self._others = [model for model in models if model is not own]
        self._own = own
        self._client = client
        self._rng = rng

    def look(self) -> None:
        self._rng.choice((self._search_words, self._search_others, self._list, self._ask_for_ids))()

    def _search_words(self) -> None:
        self.search(some_words(self._rng), self._rng.choice(("hybrid", "keyword", "vector")))

    def _search_others(self) -> None:
        other = self._rng.choice(self._others)
        files = other.living()
        if files:
            file = self._rng.choice(files)
            made = make_file(other.number, file.number, file.version)
            if made.marks:
                self.log.walls_asked += 1
                self.search(made.marks[0].word, "hybrid")

    def search(self, query: str, mode: str) -> None:
        body = {"query": query, "mode": mode, "limit": 20}
        answer = self._client.once("POST", "/api/search", json=body)
        if answer is None or answer.status_code != 200:
            return
        for hit in answer.json()["hits"]:
            owners = {mark.application for mark in marks(hit["content"])}
            if owners - {self._own.number}:
                self.log.report("wall", f"{self.name} found {hit['uri']} of {owners}")

    def _list(self) -> None:
        path = self._rng.choice(("/api/knowledge-sources", "/api/jobs"))
        answer = self._client.once("GET", path, params={"limit": 100})
        if answer is None or answer.status_code != 200:
            return
        foreign = {source for other in self._others for source in other.sources | other.deleted}
        for item in answer.json()["items"]:
            if (item.get("knowledgeSourceId") or item["id"]) in foreign:
                self.log.report("wall", f"{self.name} was shown {item} in {path}")

    def _ask_for_ids(self) -> None:
        sources = sorted(self._rng.choice(self._others).sources)
        if not sources:
            return
        self.log.walls_asked += 1
        path = f"/api/knowledge-sources/{self._rng.choice(sources)}"
        way = self._rng.choice(("", "/progress", "/events", "/crawls"))
        if way == "/progress":
            path = path.replace("sources", "source")
        answer = self._client.once("GET", path + way)
        if answer is not None and answer.status_code != 404:
            self.log.report("wall", f"{self.name} got {answer.status_code} for {path}{way}")


class Follower(Reader):
    """Follows events with their numbers, over broken connections: none twice, none missing."""

    def __init__(self, name: str, log: Log, own: ApplicationModel) -> None:
        super().__init__(name, log)
        self.own = own
        self.seen: defaultdict[str, list[int]] = defaultdict(list)

    def take(self, source: str, seq: int) -> None:
        numbers = self.seen[source]
        if numbers and seq != numbers[-1] + 1:
            kind = "doubled" if seq <= numbers[-1] else "lost"
            self.log.report(kind, f"{self.name}: event {seq} of {source} after {numbers[-1]}")
        numbers.append(seq)


class SocketFollower(Follower):
    """Over WebSocket, all sources of an application."""

    def __init__(self, on: Installation, log: Log, own: ApplicationModel, rng: Random) -> None:
        super().__init__(f"socket-{own.number}", log, own)
        self._url = on.api.url.replace("http", "ws") + "/api/ws"
        self._rng = rng

    def look(self) -> None:
        headers = {"Authorization": f"Bearer {self.own.key}"}
        leave_after = self._rng.randint(5, 60)
        try:
            with connect(
                self._url, additional_headers=headers, max_queue=None, open_timeout=5,
                close_timeout=1,
            ) as socket:  # fmt: skip
                after = {source: numbers[-1] for source, numbers in self.seen.items() if numbers}
                message = {"type": "subscribe", "knowledgeSourceIds": "all", "after": after}
                socket.send(json.dumps(message))
                while leave_after and not self.stop_asked.is_set():
                    try:
                        self._hear(json.loads(socket.recv(timeout=0.5)))
                    except TimeoutError:
                        continue
                    leave_after -= 1
        except (OSError, WebSocketException, EOFError):
            return

    def _hear(self, message: Any) -> None:
        source = message.get("knowledgeSourceId")
        if message["type"] in _EVENTS:
            self.take(source, message["seq"])
        elif message["type"] == "snapshot" and not self.seen[source]:
            self.seen[source].append(message["seq"])


class StreamFollower(Follower):
    """By server-sent events, one source after the other."""

    def __init__(self, on: Installation, log: Log, own: ApplicationModel, rng: Random) -> None:
        super().__init__(f"stream-{own.number}", log, own)
        self._url = on.api.url
        self._rng = rng

    def look(self) -> None:
        sources = sorted(self.own.sources)
        if not sources:
            return
        source = self._rng.choice(sources)
        headers = {"Authorization": f"Bearer {self.own.key}"}
        if self.seen[source]:
            headers["Last-Event-ID"] = str(self.seen[source][-1])
        path = f"{self._url}/api/knowledge-sources/{source}/stream"
        timeout = httpx.Timeout(5, read=2)
        try:
            with httpx.stream("GET", path, headers=headers, timeout=timeout) as response:
                if response.status_code == 200:
                    self._read(source, response.iter_lines)
        except httpx.HTTPError:
            return

    def _read(self, source: str, lines: Callable[[], Any]) -> None:
        kind, left = "", self._rng.randint(3, 30)
        for line in lines():
            name, _, value = line.partition(": ")
            if name == "event":
                kind = value
            elif name == "data":
                message = json.loads(value)
                if kind in _EVENTS:
                    self.take(source, message["seq"])
                elif kind == "snapshot" and not self.seen[source]:
                    self.seen[source].append(message["seq"])
                left -= 1
                if not left or self.stop_asked.is_set():
                    return
