"""`ingest pause` and `resume`, and what jobs wait for."""

import httpx
import pytest

from api.cli.client.wait_reasons import waiting_line
from tests.unit.cli.fake_jobs import FakeJobs, fake_jobs, ingest, objects


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> FakeJobs:
    return fake_jobs(monkeypatch)


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
