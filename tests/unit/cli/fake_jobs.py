"""A made-up service for the commands on jobs."""

import json
from collections.abc import Sequence
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner, Result

from api.cli.client.http_client import Client, ServiceAddress
from api.cli.main import app
from tests.servers.fake_service import problem


class FakeJobs:
    """Notes requests and answers them by method and path; anything else is a 404."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, Any]] = []
        self.answers: dict[str, httpx.Response] = {}

    def client(self) -> Client:
        target = ServiceAddress(url="http://ingest.test", key="k", key_from="the test")
        return Client(target, transport=httpx.MockTransport(self._answer))

    def _answer(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content) if request.content else None
        self.requests.append((request.method, request.url.path, body))
        known = self.answers.get(f"{request.method} {request.url.path}")
        return known or problem(404, "not_found", "job not found")


def fake_jobs(monkeypatch: pytest.MonkeyPatch) -> FakeJobs:
    """The service that commands open from now on."""
    fake = FakeJobs()
    for module in ("jobs", "sources", "workers"):
        monkeypatch.setattr(f"api.cli.commands.{module}.open_client", fake.client)
    return fake


def ingest(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def objects(result: Result) -> Sequence[Any]:
    return [json.loads(line) for line in result.stdout.splitlines()]
