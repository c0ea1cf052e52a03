"""Follows events of knowledge sources; yields each once, in order, across reconnects.

By WebSocket; if a proxy between client and service does not let it through, by polling for new
events.
"""

import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count as numbers
from typing import Any, Final

from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidMessage,
    InvalidProxyStatus,
    InvalidStatus,
)
from websockets.sync.client import ClientConnection, connect

from api.cli.client.http_client import TEMPORARY, Client, ServiceError, Unreachable
from api.cli.client.polling import MAX_OUTAGE_SECONDS
from api.cli.client.wait_reasons import QUIET_SECONDS

Message = dict[str, Any]

ENDED: Final = ("completed", "partial", "failed", "cancelled", "review_needed")
"""States in which nothing more happens without a person."""

_POLL_SECONDS: Final = 1.0
_QUIET_POLLS: Final = round(QUIET_SECONDS / _POLL_SECONDS)
_MAX_BACKOFF_SECONDS: Final = 5.0


class EventFollower:
    """Messages as /api/ws documents them, until every source has ended."""

    def __init__(
        self,
        client: Client,
        source_ids: Sequence[str],
        *,
        sleep: Callable[[float], None] = time.sleep,
        on_quiet: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_quiet` is called repeatedly while no message arrives."""
        self._client = client
        self._sleep = sleep
        self._on_quiet = on_quiet
        self._open = set(source_ids)
        self._seen: dict[str, int] = {}
        """The number of the last message per source: a new connection resumes from it."""
        self._received_at = time.monotonic()

    def messages(self) -> Iterator[Message]:
        """Yield messages. Raises Unreachable after all retries, ServiceError if refused."""
        failures = 0
        while self._open:
            received_at = self._received_at
            try:
                yield from self._by_socket()
            except _NoWebSocket:
                yield from self._by_polling()
                return
            except (OSError, ConnectionClosed, InvalidMessage) as error:
                failures = 0 if self._received_at > received_at else failures + 1
                self._back_off(failures, error)

    def _back_off(self, failures: int, error: Exception) -> None:
        if time.monotonic() - self._received_at > MAX_OUTAGE_SECONDS:
            raise Unreachable(f"the connection to {self._client.target.url} was lost") from error
        self._sleep(random.uniform(0, min(0.1 * 2.0**failures, _MAX_BACKOFF_SECONDS)))  # noqa: S311 jitter

    def _by_socket(self) -> Iterator[Message]:
        with self._connect() as socket:
            ids = sorted(self._open)
            after = {id: self._seen[id] for id in ids if id in self._seen}
            command = {"type": "subscribe", "knowledgeSourceIds": ids, "after": after}
            socket.send(json.dumps(command))
            while self._open:
                try:
                    message = json.loads(socket.recv(timeout=QUIET_SECONDS))
                except TimeoutError:
                    self._on_quiet()
                    continue
                self._received_at = time.monotonic()
                if self._is_new(message):
                    yield message

    def _connect(self) -> ClientConnection:
        target = self._client.target
        try:
            return connect(
                f"ws{target.url.removeprefix('http')}/api/ws",
                additional_headers={"Authorization": f"Bearer {target.key}"},
                proxy=None if target.is_local else True,
            )
        except InvalidStatus as error:
            if error.response.status_code in TEMPORARY:
                raise ConnectionError("the service is away") from error
            raise _NoWebSocket from error
        except InvalidProxyStatus as error:
            raise _NoWebSocket from error
        except InvalidMessage:
            raise  # the service went away during the handshake
        except InvalidHandshake as error:
            raise _NoWebSocket from error

    def _by_polling(self) -> Iterator[Message]:
        last = 0
        for poll in numbers():
            for id in sorted(self._open):
                for message in self._poll(id):
                    if self._is_new(message):
                        last = poll
                        yield message
            if not self._open:
                return
            if (poll - last) % _QUIET_POLLS == _QUIET_POLLS - 1:
                self._on_quiet()
            self._sleep(_POLL_SECONDS)

    def _poll(self, id: str) -> list[Message]:
        """Fetch new messages of one source; none while the service cannot be reached."""
        path = f"/api/knowledge-sources/{id}"
        try:
            if id not in self._seen:
                return [_snapshot(self._client.get(path))]
            after = self._seen[id]
            events = self._client.get(f"{path}/events", after=after, limit=200)["items"]
        except ServiceError as error:
            if error.status == 404:
                return [{"type": "error", "code": "not_found", "knowledgeSourceId": id}]
            if not error.is_temporary:
                raise
            self._back_off(0, error)
            return []
        except Unreachable as error:
            self._back_off(0, error)
            return []
        self._received_at = time.monotonic()
        return [_event(id, event) for event in events]

    def _is_new(self, message: Message) -> bool:
        """Whether to show a message; records its number, and whether its source has ended."""
        id = message.get("knowledgeSourceId")
        if not isinstance(id, str):
            return False
        is_end = _is_end(message)
        seq = message.get("seq")
        is_new = True
        if message["type"] == "snapshot":
            # After a reconnect, a snapshot is skipped unless the source has ended: later events
            # report the same.
            is_new = is_end or id not in self._seen
        elif isinstance(seq, int) and seq <= self._seen.get(id, -1):
            return False
        if isinstance(seq, int):
            self._seen[id] = seq
        if is_end:
            self._open.discard(id)
        return is_new


class _NoWebSocket(Exception):
    """A proxy does not let WebSockets through."""


def _is_end(message: Message) -> bool:
    if message["type"] == "error":
        return True
    if message["type"] == "snapshot":
        is_current = message["seq"] >= message.get("latestSeq", message["seq"])
        return is_current and message.get("status") in ENDED
    return message["type"] == "done" or message.get("status") in ENDED


def _snapshot(source: dict[str, Any]) -> Message:
    """A source of the API as a snapshot message of the socket."""
    names = ("name", "uri", "status", "errorCode", "errorMessage", "chunkCount")
    return {
        **{name: source[name] for name in names},
        "type": "snapshot",
        "knowledgeSourceId": source["id"],
        "seq": source["eventSeq"],
    }


def _event(id: str, event: dict[str, Any]) -> Message:
    return {
        **event["data"],
        "type": event["type"],
        "knowledgeSourceId": id,
        "seq": event["seq"],
        "at": event["createdAt"],
    }
