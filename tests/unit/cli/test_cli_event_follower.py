"""Following events: each once and in order, whatever happens to the connection."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

from api.cli.client.event_follower import EventFollower, Message
from api.cli.client.http_client import Client, ServiceAddress, ServiceError, Unreachable

A, B = "source-a", "source-b"

Script = Callable[[ServerConnection, dict[str, Any]], None]


class Sockets:
    """A WebSocket server that plays one script per connection, the last one again and again."""

    def __init__(self, *scripts: Script) -> None:
        self._scripts = list(scripts)
        self.commands: list[dict[str, Any]] = []
        self.status: int | None = None
        """Refuses to upgrade with this."""

    def handle(self, socket: ServerConnection) -> None:
        script = self._scripts.pop(0) if len(self._scripts) > 1 else self._scripts[0]
        try:
            command = json.loads(socket.recv())
            self.commands.append(command)
            script(socket, command)
        except ConnectionClosed:
            pass

    def refuse(self, socket: ServerConnection, request: Request) -> Response | None:
        assert request.headers["Authorization"] == "Bearer key"
        return None if self.status is None else socket.respond(self.status, "no")


@contextmanager
def running(
    sockets: Sockets, answer: Callable[[httpx.Request], httpx.Response]
) -> Iterator[Client]:
    """A client of the sockets; its other requests are answered by `answer`."""
    with serve(sockets.handle, "127.0.0.1", 0, process_request=sockets.refuse) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        port = server.socket.getsockname()[1]
        target = ServiceAddress(url=f"http://127.0.0.1:{port}", key="key", key_from="the test")
        with Client(target, transport=httpx.MockTransport(answer)) as client:
            yield client
        server.shutdown()
        thread.join()


def nothing_else(request: httpx.Request) -> httpx.Response:
    raise AssertionError(f"unexpected {request.method} {request.url}")


def follow(client: Client, *ids: str) -> list[tuple[str, str, int | None]]:
    follower = EventFollower(client, ids, sleep=lambda _: None)
    return [
        (message["knowledgeSourceId"], message["type"], message.get("seq"))
        for message in follower.messages()
    ]


def say(socket: ServerConnection, id: str, type: str, seq: int, **more: Any) -> None:
    message: Message = {"type": type, "knowledgeSourceId": id, "seq": seq, **more}
    socket.send(json.dumps(message))


def test_following_ends_when_every_source_is_done() -> None:
    def script(socket: ServerConnection, _: Any) -> None:
        say(socket, A, "snapshot", 0, latestSeq=0, status="pending")
        say(socket, B, "snapshot", 4, latestSeq=4, status="completed")
        socket.send('{"type":"ping"}')
        say(socket, A, "progress", 1, status="processing")
        say(socket, A, "done", 2, status="failed")
        say(socket, A, "job", 3, status="pending")

    sockets = Sockets(script)
    with running(sockets, nothing_else) as client:
        seen = follow(client, A, B)

    assert seen == [(A, "snapshot", 0), (B, "snapshot", 4), (A, "progress", 1), (A, "done", 2)]
    assert sockets.commands[0]["knowledgeSourceIds"] == [A, B]


def test_a_broken_connection_is_resumed_after_the_last_event() -> None:
    def first(socket: ServerConnection, _: Any) -> None:
        say(socket, A, "snapshot", 1, latestSeq=1, status="processing")
        say(socket, A, "progress", 2, status="processing")
        socket.close(4408)

    def second(socket: ServerConnection, command: dict[str, Any]) -> None:
        say(socket, A, "snapshot", command["after"][A], latestSeq=5, status="completed")
        for seq in (2, 3, 4):  # one that was seen already
            say(socket, A, "progress", seq, status="processing")
        say(socket, A, "done", 5, status="completed")

    sockets = Sockets(first, lambda socket, _: socket.close(1013), second)
    with running(sockets, nothing_else) as client:
        seen = follow(client, A)

    assert [seq for _, _, seq in seen] == [1, 2, 3, 4, 5]
    assert [command["after"] for command in sockets.commands] == [{}, {A: 2}, {A: 2}]


def test_idle_callback_runs_while_no_event_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.cli.client.event_follower.QUIET_SECONDS", 0.01)
    looked = threading.Event()

    def script(socket: ServerConnection, _: Any) -> None:
        say(socket, A, "snapshot", 1, latestSeq=1, status="pending")
        looked.wait()
        say(socket, A, "done", 2, status="completed")

    with running(Sockets(script), nothing_else) as client:
        seen = [
            message["seq"] for message in EventFollower(client, [A], on_quiet=looked.set).messages()
        ]

    assert seen == [1, 2]


def test_idle_callback_runs_while_polling() -> None:
    sockets = Sockets(lambda socket, _: socket.close())
    sockets.status = 426
    looks = 0

    def look() -> None:
        nonlocal looks
        looks += 1

    def answer(request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith("/events"):
            return httpx.Response(200, json=source(eventSeq=2, status="pending"))
        end = {"seq": 3, "type": "done", "data": {"status": "failed"}, "createdAt": "x"}
        return httpx.Response(200, json={"items": [end] if looks == 2 else []})

    with running(sockets, answer) as client:
        follower = EventFollower(client, [A], sleep=lambda _: None, on_quiet=look)
        seen = [message["seq"] for message in follower.messages()]

    assert seen == [2, 3]


def test_following_ends_even_if_the_last_events_were_pruned() -> None:
    def first(socket: ServerConnection, _: Any) -> None:
        say(socket, A, "snapshot", 1, latestSeq=1, status="processing")

    def second(socket: ServerConnection, _: Any) -> None:
        say(socket, A, "snapshot", 9, latestSeq=9, status="completed")
        socket.recv()  # nothing follows

    with running(Sockets(first, second), nothing_else) as client:
        assert [seq for _, _, seq in follow(client, A)] == [1, 9]


def test_a_source_that_is_deleted_meanwhile_ends_with_its_error() -> None:
    def script(socket: ServerConnection, _: Any) -> None:
        error = {"type": "error", "code": "not_found", "knowledgeSourceId": A}
        socket.send(json.dumps(error))

    with running(Sockets(script), nothing_else) as client:
        assert follow(client, A) == [(A, "error", None)]


def test_following_falls_back_to_polling_without_websockets() -> None:
    events: list[dict[str, Any]] = [
        {"seq": seq, "type": "progress", "data": {}, "createdAt": "x"} for seq in (3, 4)
    ]
    end = {"seq": 5, "type": "done", "data": {"status": "completed"}, "createdAt": "x"}
    answers = [
        httpx.Response(200, json={"items": [*events, end]}),
        httpx.Response(503, json={}),
        httpx.Response(429, json={}),
        httpx.Response(200, json={"items": []}),
        httpx.Response(200, json=source(eventSeq=2, status="processing")),
    ]
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.raw_path.decode())
        return answers.pop()

    sockets = Sockets(lambda socket, _: socket.close())
    sockets.status = 426
    with running(sockets, answer) as client:
        seen = follow(client, A)

    assert [seq for _, _, seq in seen] == [2, 3, 4, 5]
    path = f"/api/knowledge-sources/{A}"
    assert asked == [path, *[f"{path}/events?after=2&limit=200"] * 4]


def test_a_refused_key_is_an_error_and_no_endless_attempt() -> None:
    sockets = Sockets(lambda socket, _: socket.close())
    sockets.status = 403
    refusal = pytest.raises(ServiceError, match="rejected the key from the test")
    with running(sockets, lambda _: httpx.Response(401, json={})) as client, refusal:
        follow(client, A)


def test_unreachable_service_is_an_error_after_all_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 10_000, 30))
    monkeypatch.setattr("api.cli.client.event_follower.time.monotonic", lambda: next(clock))
    sockets = Sockets(lambda socket, _: socket.close())
    sockets.status = 502
    with running(sockets, nothing_else) as client, pytest.raises(Unreachable, match="was lost"):
        follow(client, A)


def source(**facts: Any) -> dict[str, Any]:
    """A source as the API shows it."""
    return {
        "id": A,
        "name": "a",
        "uri": "a",
        "errorCode": None,
        "errorMessage": None,
        "chunkCount": 0,
        **facts,
    }
