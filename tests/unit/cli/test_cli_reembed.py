"""`ingest reembed`: what it asks of the service, and what it prints."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from typer.testing import CliRunner

from api.cli.commands import reembed
from api.cli.main import app

run = CliRunner()


class FakeClient:
    """Answers of the service; a job takes two polls."""

    def __init__(self, *, job: str = "completed") -> None:
        self.posted: list[str] = []
        self.statuses = ["processing", job]
        self.outdated = 4

    def post(self, path: str, body: Any) -> Any:
        self.posted.append(path)
        return {"jobIds": ["job"]}

    def get(self, path: str) -> Any:
        if path.startswith("/api/jobs/"):
            status = self.statuses.pop(0)
            self.outdated = 0 if status == "completed" else 4
            return {"status": status, "lastErrorMessage": "no more tokens"}
        earlier = {"provider": "local", "name": "old", "dimension": 8, "isReachable": False}
        return {
            "model": {"provider": "onnx", "name": "e5#1", "dimension": 8},
            "earlierModels": [earlier] if self.outdated else [],
            "documents": 5,
            "outdated": self.outdated,
            "ready": 1,
            "jobId": None,
        }


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> FakeClient:
    fake = FakeClient()

    @contextmanager
    def open_client() -> Iterator[FakeClient]:
        yield fake

    monkeypatch.setattr(reembed, "open_client", open_client)
    monkeypatch.setattr(reembed, "_POLL_SECONDS", 0)
    return fake


def test_status_changes_nothing_and_names_what_cannot_be_asked(client: FakeClient) -> None:
    result = run.invoke(app, ["reembed", "--status"])

    assert result.exit_code == 0
    assert client.posted == []
    assert "onnx/e5#1: 1 of 4 documents are ready" in result.stdout
    assert "local/old is not configured" in result.stderr


def test_it_waits_until_searches_use_the_new_model(client: FakeClient) -> None:
    result = run.invoke(app, ["reembed", "--wait"])

    assert result.exit_code == 0
    assert client.posted == ["/api/reembed"]
    assert result.stdout == "onnx/e5#1: all of 5 documents\n"


def test_a_failed_job_is_an_error_with_its_reason(client: FakeClient) -> None:
    client.statuses = ["processing", "failed"]

    result = run.invoke(app, ["reembed", "--wait"])

    assert result.exit_code == 2
    assert "the job job is failed: no more tokens" in result.stderr


def test_all_applications_are_asked_for_by_the_operator(client: FakeClient) -> None:
    result = run.invoke(app, ["reembed", "--all", "--json"])

    assert client.posted == ["/api/reembed/all"]
    assert '"jobIds"' in result.stdout


@pytest.mark.parametrize("options", [["--status", "--wait"], ["--all", "--wait"]])
def test_options_that_contradict_each_other_are_refused(
    client: FakeClient, options: list[str]
) -> None:
    assert run.invoke(app, ["reembed", *options]).exit_code == 2
    assert client.posted == []
