"""Sending: only what is missing, every byte once, over broken connections."""

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from api.cli import sending
from api.cli.client import Refused, Unreachable
from api.cli.files import LocalFile
from api.cli.sending import Options, Outcome, Sender
from tests.servers.fake_service import Answer, FakeService, problem

Write = Callable[..., list[LocalFile]]


@pytest.fixture
def service() -> FakeService:
    return FakeService()


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(**contents: str) -> list[LocalFile]:
        files = []
        for name, content in contents.items():
            path = tmp_path / name
            path.write_text(content)
            files.append(LocalFile(path=path, name=f"docs/{name}", size=len(content)))
        return files

    return write


def send(
    service: FakeService, files: list[LocalFile], options: Options | None = None
) -> tuple[Outcome, list[int]]:
    """The outcome, and how far the bar came with each step."""
    shown: list[int] = []
    with service.client() as client:
        sender = Sender(client, options or Options(), show=shown.append, sleep=lambda _: None)
        sender.send(files)
    return sender.outcome, shown


def lose_once(path: str) -> Callable[[httpx.Request], Answer | None]:
    """Breaks the first connection to a path."""
    lost = False

    def answer(request: httpx.Request) -> Answer | None:
        nonlocal lost
        if request.url.path != path or lost:
            return None
        lost = True
        return httpx.ReadError("gone", request=request)

    return answer


def test_files_arrive_with_their_paths_bytes_and_fields(service: FakeService, write: Write) -> None:
    options = Options(metadata={"team": "ä"}, priority=7, on_conflict="skip")

    outcome, shown = send(service, write(a="one", b=""), options)

    assert service.stored == {"docs/a": b"one", "docs/b": b""}
    assert service.fields == [
        {"priority": "7", "onConflict": "skip", "metadata": '{"team": "\\u00e4"}'}
    ]
    assert outcome.verdicts == {"accepted": 2}
    assert shown[-1] == 3


def test_names_with_quotes_and_line_ends_arrive_as_they_are(
    service: FakeService, tmp_path: Path
) -> None:
    (tmp_path / "x").write_text("x")
    name = 'a"b\r\nc%41\\ü.txt'

    send(service, [LocalFile(path=tmp_path / "x", name=name, size=1)])

    assert list(service.stored) == [name]


def test_known_files_are_not_sent_again(service: FakeService, write: Write) -> None:
    send(service, write(a="one", b="two"))

    outcome, shown = send(service, write(a="one", b="new", c="three"))

    assert service.received == [["docs/a", "docs/b"], ["docs/b", "docs/c"]]
    assert outcome.verdicts == {"unchanged": 1, "accepted": 2}
    assert outcome.sent == 2
    assert shown[-1] == 11


def test_all_requests_of_a_command_go_into_one_batch(
    service: FakeService, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "_FILES", 2)

    outcome, _ = send(service, write(a="1", b="2", c="3", d="4", e="5"))

    assert [len(paths) for paths in service.received] == [2, 2, 1]
    assert [fields.get("batchId") for fields in service.fields] == [None, "batch-1", "batch-1"]
    assert outcome.batch_id == "batch-1"


@pytest.mark.parametrize("path", ["/upload/check", "/upload/documents"])
def test_connection_lost_before_sending_is_retried(
    service: FakeService, write: Write, path: str
) -> None:
    service.before = lose_once(path)

    outcome, _ = send(service, write(a="one", b="two"))

    assert service.received == [["docs/a", "docs/b"]]
    assert outcome.verdicts == {"accepted": 2}


def test_lost_answer_sends_and_counts_nothing_twice(service: FakeService, write: Write) -> None:
    service.after = lose_once("/upload/documents")

    outcome, shown = send(service, write(a="one", b="two"))

    assert service.received == [["docs/a", "docs/b"]]
    assert outcome.verdicts == {"unchanged": 2}
    assert len(outcome.already_open) == 2
    assert shown[-1] == 6


def test_a_service_that_stays_away_is_an_error(service: FakeService, write: Write) -> None:
    service.before = lambda request: httpx.ConnectError("refused", request=request)

    with pytest.raises(Unreachable, match=r"nothing answers at http://ingest\.test"):
        send(service, write(a="one"))

    assert service.requests["/upload/check"] == 5


def test_a_service_that_is_busy_is_asked_again_and_one_that_refuses_is_not(
    service: FakeService, write: Write
) -> None:
    service.before = lambda _: problem(503, "database_unavailable", "the database is away")
    with pytest.raises(Refused, match="the database is away"):
        send(service, write(a="one"))
    assert service.requests["/upload/check"] == 5

    service.before = lambda _: problem(403, "forbidden", "this needs a key with the role editor")
    with pytest.raises(Refused, match="role editor"):
        send(service, write(a="one"))
    assert service.requests["/upload/check"] == 6


def test_refused_files_are_reported(
    service: FakeService, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "_FILES", 2)
    service.rejected = {"docs/a": "too_large", "docs/b": "too_large", "docs/c": "invalid_path"}

    outcome, _ = send(service, write(a="1", b="2", c="3", d="4"))

    assert outcome.verdicts == {"rejected": 3, "accepted": 1}
    assert [(file.path, file.code) for file in outcome.rejected] == [
        ("docs/a", "too_large"),
        ("docs/b", "too_large"),
        ("docs/c", "invalid_path"),
    ]


def test_a_file_that_vanishes_before_it_is_sent_does_not_stop_the_others(
    service: FakeService, write: Write
) -> None:
    files = write(a="one", b="two")
    files[0].path.unlink()

    outcome, _ = send(service, files)

    assert service.received == [["docs/b"]]
    assert [(file.reason, file.is_failure) for file in outcome.skipped] == [
        ("No such file or directory", True)
    ]


def test_a_file_that_vanishes_while_it_is_sent_does_not_stop_the_others(
    service: FakeService, write: Write
) -> None:
    files = write(a="one", b="two")

    def vanish(request: httpx.Request) -> None:
        if request.url.path == "/upload/check":
            files[0].path.unlink(missing_ok=True)

    service.after = vanish

    outcome, _ = send(service, files)

    assert service.stored == {"docs/b": b"two"}
    assert len(outcome.skipped) == 1
