"""Sending: only what is missing, every byte once, over broken connections."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.cli.client import uploader
from api.cli.client.http_client import Client, ServiceAddress, ServiceError, Unreachable
from api.cli.client.local_files import LocalFile, find_files
from api.cli.client.uploader import UploadAnswers, Uploader, UploadOptions
from api.upload.paths import normalise
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
    service: FakeService, files: list[LocalFile], options: UploadOptions | None = None
) -> tuple[UploadAnswers, list[int]]:
    """The outcome, and how far the bar came with each step."""
    shown: list[int] = []
    with service.client() as client:
        uploader = Uploader(
            client, options or UploadOptions(), on_progress=shown.append, sleep=lambda _: None
        )
        uploader.send(files)
    return uploader.answers, shown


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
    options = UploadOptions(metadata={"team": "ä"}, priority=7, on_conflict="skip")

    outcome, shown = send(service, write(a="one", b=""), options)

    assert service.stored == {"docs/a": b"one", "docs/b": b""}
    assert service.fields == [
        {"priority": "7", "onConflict": "skip", "metadata": '{"team": "\\u00e4"}'}
    ]
    assert outcome.verdicts == {"accepted": 2}
    assert shown[-1] == 3


def test_names_arrive_as_the_service_normalises_them(service: FakeService, tmp_path: Path) -> None:
    (tmp_path / 'a"b\r\nc%41\\d\tü.txt').write_text("x")

    send(service, find_files([tmp_path]).files)

    (path,) = service.stored
    assert path == normalise(path) == f'{tmp_path.name}/a"bc%41/dü.txt'


def test_a_broken_connection_leaves_no_file_open(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, opened = write(a="1" * 200_000, b="2"), []
    open_file = Path.open

    def recorded(path: Path, *args: Any) -> Any:
        opened.append(open_file(path, *args))
        return opened[-1]

    class Broken(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            assert isinstance(request.stream, httpx.SyncByteStream)
            body = iter(request.stream)
            while not opened:
                next(body)
            assert not opened[0].closed
            raise httpx.WriteError("gone")

    monkeypatch.setattr(Path, "open", recorded)
    target = ServiceAddress(url="http://ingest.test", key="key", key_from="the test")
    with Client(target, transport=Broken()) as client, pytest.raises(Unreachable):
        client.post_files("/upload/documents", files, {})

    assert [file.closed for file in opened] == [True]


def test_known_files_are_not_sent_again(service: FakeService, write: Write) -> None:
    send(service, write(a="one", b="two"))

    outcome, shown = send(service, write(a="one", b="new", c="three"))

    assert service.received == [["docs/a", "docs/b"], ["docs/b", "docs/c"]]
    assert outcome.verdicts == {"unchanged": 1, "accepted": 2}
    assert outcome.files_sent == 2
    assert shown[-1] == 11


def test_all_requests_of_a_command_go_into_one_batch(
    service: FakeService, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploader, "_FILES_PER_REQUEST", 2)

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


def test_unreachable_service_is_an_error_after_all_retries(
    service: FakeService, write: Write
) -> None:
    service.before = lambda request: httpx.ConnectError("refused", request=request)

    with pytest.raises(Unreachable, match=r"cannot connect to http://ingest\.test"):
        send(service, write(a="one"))

    assert service.requests["/upload/check"] == 5


def test_a_service_that_is_busy_is_asked_again_and_one_that_refuses_is_not(
    service: FakeService, write: Write
) -> None:
    service.before = lambda _: problem(503, "database_unavailable", "the database is away")
    with pytest.raises(ServiceError, match="the database is away"):
        send(service, write(a="one"))
    assert service.requests["/upload/check"] == 5

    service.before = lambda _: problem(403, "forbidden", "needs at least the role editor")
    with pytest.raises(ServiceError, match="role editor"):
        send(service, write(a="one"))
    assert service.requests["/upload/check"] == 6


def test_refused_files_are_reported(
    service: FakeService, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploader, "_FILES_PER_REQUEST", 2)
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
