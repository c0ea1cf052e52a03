"""A client of the service as it should be: it repeats whatever it got no answer to."""

import socket
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from harness.patience import LONG_PATIENCE
from tests.chaos.installation import Installation

_PASSING: Final = frozenset({408, 429, 503, 507})
"""Statuses after which the same request is sent again."""
_IN_PROGRESS: Final = '"code":"idempotency_in_progress"'
"""The same of an error: the first request with this key still runs."""


@dataclass(kw_only=True)
class Log:
    """What clients saw; shared by all of them."""

    answers: Counter[str] = field(default_factory=Counter)
    """By status, and by the class of errors of transport."""
    problems: list[tuple[str, str]] = field(default_factory=list)
    """(kind, what): what no fault excuses."""
    walls_asked: int = 0
    """How often something of another application was asked for."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, what: str) -> None:
        with self._lock:
            self.answers[what] += 1

    def report(self, kind: str, what: str) -> None:
        with self._lock:
            self.problems.append((kind, what))


@dataclass(frozen=True, kw_only=True)
class Answer:
    response: httpx.Response
    repeated: bool
    """An earlier attempt got no answer, and may have been carried out."""

    @property
    def status(self) -> int:
        return self.response.status_code

    def json(self) -> Any:
        return self.response.json()


class Client:
    """One key, used by one thread."""

    def __init__(self, on: Installation, key: str, log: Log) -> None:
        self._on = on
        self.log = log
        self._http = httpx.Client(
            base_url=on.api.url,
            headers={"Authorization": f"Bearer {key}"},
            timeout=30,
            trust_env=False,
            limits=httpx.Limits(keepalive_expiry=2),
        )

    def close(self) -> None:
        self._http.close()

    def once(self, method: str, path: str, **request: Any) -> httpx.Response | None:
        """One attempt; None: no answer, or one that says to come again."""
        try:
            response = self._http.request(method, path, **request)
        except httpx.HTTPError as error:
            self.log.count(type(error).__name__)
            return None
        self.log.count(str(response.status_code))
        if response.status_code in _PASSING or _IN_PROGRESS in response.text:
            if response.status_code == 507 or "is full" in response.text:
                self._on.refused_for_space += 1
            return None
        if response.status_code >= 500:
            self.log.report("answer", f"{response.status_code} {path}: {response.text[:300]}")
        return response

    def definite(self, method: str, path: str, **request: Any) -> Answer | None:
        """Repeat until there is an answer; None, and a report, if there is none for very long."""
        deadline = time.monotonic() + LONG_PATIENCE
        repeated = False
        while (response := self.once(method, path, **request)) is None or (
            response.status_code >= 500
        ):
            repeated = True
            if time.monotonic() > deadline:
                self.log.report("hung", f"no answer to {method} {path}")
                return None
            time.sleep(0.3)
        return Answer(response=response, repeated=repeated)

    def send_half(self, path: str, content: bytes, headers: Mapping[str, str]) -> None:
        """Begin an upload and hang up in the middle of it."""
        request = self._http.build_request(
            "POST", path, files=[("files", ("half.txt", content))], headers=dict(headers)
        )
        head = f"POST {path} HTTP/1.1\r\n" + "".join(
            f"{name}: {value}\r\n" for name, value in request.headers.items()
        )
        body = request.read()
        try:
            with socket.create_connection(("127.0.0.1", self._on.api.port), timeout=3) as line:
                line.sendall(head.encode() + b"\r\n" + body[: len(body) // 2])
        except OSError:
            pass  # the API is down
