"""`ingest pause` and `resume`, and what jobs wait for."""

import json
from collections.abc import Sequence
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner, Result

from api.cli.client.http_client import Client, ServiceAddress
from api.cli.client.wait_reasons import waiting_line
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


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> FakeJobs:
    fake = FakeJobs()
    for module in ("jobs", "sources", "workers"):
        monkeypatch.setattr(f"api.cli.commands.{module}.open_client", fake.client)
    return fake


def ingest(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def objects(result: Result) -> Sequence[Any]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_pauses_of_providers_are_ended(service: FakeJobs) -> None:
    service.answers["POST /api/worker/provider/resume"] = httpx.Response(
        200, json={"lanes": ["openai/m#1"], "jobCount": 1200}
    )

    result = ingest("resume", "--provider")

    assert result.output == "ended 1 pause, resumed 1,200 jobs\n"


def test_wait_reason_is_shown_with_its_cause() -> None:
    group = {
        "type": "file",
        "waitReason": "provider_unavailable",
        "count": 1,
        "until": "2026-11-28T06:10:00Z",
    }
    cause = {"lastErrorCode": "embedding_quota", "lastErrorMessage": "HTTP 429: pay"}

    words = waiting_line([{**group, **cause}, group])

    assert words == (
        "waiting: 1 file for provider_unavailable (embedding_quota: HTTP 429: pay)"
        " until 2026-11-28T06:10Z · 1 file for provider_unavailable until 2026-11-28T06:10Z"
    )


@pytest.mark.parametrize(("command", "paused"), [("pause", True), ("resume", False)])
def test_the_workers_are_paused_and_resumed(service: FakeJobs, command: str, paused: bool) -> None:
    config = {"paused": paused, "limits": {}}
    service.answers["PUT /api/worker/config"] = httpx.Response(200, json=config)

    text, as_json = ingest(command), ingest(command, "--json")

    assert text.stdout == ("paused\n" if paused else "running\n")
    assert objects(as_json) == [config]
    assert service.requests[0] == ("PUT", "/api/worker/config", {"paused": paused})


@pytest.mark.parametrize("command", ["pause", "resume"])
def test_pause_without_permission_names_the_operator_key(service: FakeJobs, command: str) -> None:
    service.answers["PUT /api/worker/config"] = httpx.Response(403, json={"detail": "no"})

    result = ingest(command)

    assert (result.exit_code, result.stdout) == (2, "")
    assert "this needs the operator key, " in result.stderr
