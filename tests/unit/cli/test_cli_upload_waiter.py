"""The end of an upload: when it is over, what is told, and what counts as a failure."""

from pathlib import Path

import httpx
import pytest
from rich.console import Console
from typer.testing import CliRunner

from api.cli.client.http_client import ServiceError
from api.cli.client.local_files import LocalFile, Skipped
from api.cli.client.upload_waiter import UploadWaiter
from api.cli.client.uploader import UnsearchableFile, UploadAnswers, Uploader, UploadOptions
from api.cli.client.wait_reasons import WaitReasons
from api.cli.commands.upload_report import UploadResult, print_result
from api.cli.main import app
from tests.servers.fake_service import Answer, FakeService, problem


@pytest.fixture
def service(tmp_path: Path) -> FakeService:
    """It has the files a and b, in work."""
    service = FakeService()
    send(service, tmp_path, "a", "b")
    return service


def send(service: FakeService, folder: Path, *names: str) -> UploadAnswers:
    files = []
    for name in names:
        (folder / name).write_text(name)
        files.append(LocalFile(path=folder / name, name=name, size=1))
    with service.client() as client:
        uploader = Uploader(client, UploadOptions(), sleep=lambda _: None)
        uploader.send(files)
    return uploader.answers


def wait(
    service: FakeService, outcome: UploadAnswers
) -> tuple[UploadResult, list[tuple[int, int]]]:
    """The files end one by one, each time somebody waits."""
    shown: list[tuple[int, int]] = []

    def end_one(_: float) -> None:
        open_ones = [path for path, state in service.states.items() if state == "pending"]
        service.states[open_ones[0]] = "failed" if open_ones[0] == "b" else "completed"

    with service.client() as client:
        waiter = UploadWaiter(client, outcome, sleep=end_one)
        waiter.wait(lambda done, total: shown.append((done, total)))
        states, problems = waiter.outcome()
    return UploadResult(answers=outcome, states=states, problems=problems), shown


def test_upload_ends_with_its_last_file(service: FakeService, tmp_path: Path) -> None:
    result, shown = wait(service, send(service, tmp_path, "c", "d"))

    assert shown[-1] == (2, 2)
    assert result.states == {"completed": 2}
    assert not result.has_failures


def test_resumed_upload_waits_for_files_of_the_first_attempt(
    service: FakeService, tmp_path: Path
) -> None:
    outcome = send(service, tmp_path, "a", "b", "c")
    result, shown = wait(service, outcome)

    assert outcome.verdicts == {"unchanged": 2, "accepted": 1}
    assert shown[0] == (0, 3)
    assert result.states == {"completed": 2, "failed": 1}
    assert [(file.path, file.status, file.code) for file in result.problems] == [
        ("b", "failed", "corrupt")
    ]


def test_files_of_others_in_the_same_batch_are_not_reported(
    service: FakeService, tmp_path: Path
) -> None:
    result, _ = wait(service, send(service, tmp_path, "a"))

    assert result.states == {"completed": 1}
    assert result.problems == []


def test_waiting_survives_a_restart_of_the_service(service: FakeService, tmp_path: Path) -> None:
    outcome = send(service, tmp_path, "c")
    trouble: list[Answer] = [
        httpx.ConnectError("refused"),
        problem(503, "database_unavailable", "away"),
        httpx.ReadError("gone"),
    ]
    service.before = lambda _: trouble.pop() if trouble else None

    result, _ = wait(service, outcome)

    assert result.states == {"completed": 1}


def test_wait_reason_of_the_last_files_is_printed_once_after_a_delay(
    service: FakeService, tmp_path: Path
) -> None:
    outcome = send(service, tmp_path, "c", "d", "e")
    service.states["c"] = "processing"
    service.waits = {"d": ("budget_exceeded", "2026-11-29T00:04:10Z"), "e": ("retry", None)}
    told: list[tuple[int, str]] = []
    polls = 0

    def go_on(_: float) -> None:
        nonlocal polls
        polls += 1
        if polls == 10:
            service.states["c"] = "completed"
        if polls == 75:
            service.waits["e"] = service.waits["d"]
        if polls == 100:
            service.states |= {"d": "completed", "e": "completed"}

    with service.client() as client:
        UploadWaiter(client, outcome, sleep=go_on).wait(
            lambda *_: None,
            on_waiting=lambda text, is_new: told.append((polls, text)) if is_new else None,
        )

    assert told == [
        (29, "waiting: 1 file for budget_exceeded until 2026-11-29T00:04Z · 1 file for retry"),
        (89, "waiting: 2 files for budget_exceeded until 2026-11-29T00:04Z"),
    ]


def test_upload_prints_what_it_waits_for_to_standard_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = FakeService()
    service.waits = {"a.txt": ("paused", None)}

    def end_it(request: httpx.Request) -> None:
        if service.requests[request.url.path] == 50:
            service.states["a.txt"] = "completed"

    service.before = end_it
    monkeypatch.setattr("api.cli.commands.upload.open_client", service.client)
    monkeypatch.setattr("api.cli.client.polling.POLL_SECONDS", 0)
    (tmp_path / "a.txt").write_text("a")

    result = CliRunner().invoke(app, ["upload", str(tmp_path / "a.txt")])

    assert result.stderr == "waiting: 1 file for the end of a pause\n"
    assert result.stdout == "1 file · 1 accepted\n1 completed\n"


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (None, "waiting: 1 file for a free worker"),
        ("paused", "waiting: 1 file for the end of a pause"),
    ],
)
def test_wait_reason_is_printed_in_words_or_omitted(
    service: FakeService, tmp_path: Path, reason: str | None, words: str
) -> None:
    outcome = send(service, tmp_path, "c")
    service.waits = {} if reason is None else {"c": (reason, None)}
    with service.client() as client:
        reasons = WaitReasons(client, [{"batchId": str(outcome.batch_id)}])
        seen = reasons.waiting()
        service.before = lambda _: problem(503, "database_unavailable", "away")
        unknown = reasons.waiting()

    assert seen == words
    assert (unknown, reasons.has_changed) == ("", False)


def test_waiting_ends_when_the_service_refuses(service: FakeService, tmp_path: Path) -> None:
    outcome = send(service, tmp_path, "c")
    service.before = lambda _: problem(401, "unauthorized", "revoked")

    with pytest.raises(ServiceError, match="rejected the key from the test"):
        wait(service, outcome)


@pytest.mark.parametrize(
    ("problems", "skipped", "is_failure"),
    [
        ([], [], False),
        ([UnsearchableFile(path="x", status="failed", code="corrupt", detail=None)], [], True),
        ([UnsearchableFile(path="x", status="rejected", code="too_large", detail=None)], [], True),
        ([UnsearchableFile(path="x", status="partial", code=None, detail=None)], [], False),
        ([], [Skipped(path="x", reason="hidden")], False),
        ([], [Skipped(path="x", reason="Permission denied", is_failure=True)], True),
    ],
)
def test_missing_file_counts_as_failure(
    problems: list[UnsearchableFile], skipped: list[Skipped], is_failure: bool
) -> None:
    result = UploadResult(answers=UploadAnswers(), problems=problems, skipped=skipped)

    assert result.has_failures is is_failure


def test_the_report_names_every_problem_with_code_and_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    outcome = UploadAnswers()
    outcome.verdicts.update({"accepted": 1200, "unchanged": 3})
    bad = UnsearchableFile(
        path="a/[b].pdf", status="failed", code="encrypted", detail="It has\na password."
    )

    print_result(Console(width=200), UploadResult(answers=outcome, problems=[bad]))

    told = capsys.readouterr().out
    assert "1,203 files · 1,200 accepted · 3 already stored" in told
    assert "a/[b].pdf  failed  encrypted  It has a password." in told
