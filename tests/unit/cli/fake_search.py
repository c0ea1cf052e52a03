"""A made-up service that answers searches, and `ingest eval` against it."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner, Result

from api.cli.client.http_client import Client, ServiceAddress
from api.cli.main import app
from tests.servers.fake_service import KEY, FakeService

Hits = list[dict[str, Any]]


def hit(uri: str, **more: Any) -> dict[str, Any]:
    found = {
        "chunkId": f"chunk of {uri} {more}",
        "documentId": f"document {uri}",
        "knowledgeSourceId": f"source {uri}",
        "uri": uri,
        "page": None,
        "pageEnd": None,
        "content": "",
    }
    return {**found, **more}


class FakeSearch:
    """Answers every search by `find`; `answer` has the other fields."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.find: Callable[[Mapping[str, Any]], Hits] = lambda body: []
        self.answer: dict[str, Any] = {"degraded": []}
        self.statuses: list[int] = []
        self.uploads = FakeService()
        self.judgements: list[dict[str, Any]] = []
        self.sets: list[str] = []

    def client(self) -> Client:
        target = ServiceAddress(url="http://ingest.test", key=KEY, key_from="the test")
        return Client(target, transport=httpx.MockTransport(self._answer))

    def _answer(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/api/judgements":
            self.sets.append(str(request.url.params["set"]))
            return httpx.Response(200, json={"items": self.judgements, "nextCursor": None})
        if request.url.path != "/api/search":
            return self._upload(request)
        if self.statuses:
            return httpx.Response(self.statuses.pop(), json={"detail": "busy"})
        body = json.loads(request.content)
        self.bodies.append(body)
        return httpx.Response(200, json={"hits": self.find(body), **self.answer})

    def _upload(self, request: httpx.Request) -> httpx.Response:
        """Everything uploaded is completed at once."""
        answer = self.uploads.answer(request)
        self.uploads.states = dict.fromkeys(self.uploads.states, "completed")
        return answer


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["eval", *arguments])


def measures(result: Result, mode: str, variant: str = "") -> dict[str, float]:
    runs = json.loads(result.stdout)["runs"]
    found = next(one for one in runs if (one["mode"], one["variant"]) == (mode, variant))
    return {name: one["mean"] for name, one in found["measures"].items()}


def fake_search(monkeypatch: pytest.MonkeyPatch) -> FakeSearch:
    """The service that `ingest eval` opens from now on; it makes no pauses."""
    fake = FakeSearch()
    monkeypatch.setattr("api.cli.commands.evaluate.open_client", fake.client)
    monkeypatch.setattr("api.cli.commands.evaluate._PAUSE_SECONDS", 0)
    return fake
