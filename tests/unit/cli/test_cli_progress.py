"""What a command says in a log: how far it is, how fast, and what it waits for."""

import threading
from pathlib import Path

import pytest
from rich.console import Console

from api.cli.client.local_files import LocalFile
from api.cli.client.upload_waiter import UploadWaiter
from api.cli.client.uploader import Uploader, UploadOptions
from api.cli.client.wait_reasons import WaitReasons
from api.cli.commands.upload import UploadProgress
from api.cli.output import join_parts
from api.cli.progress import RateMeter, duration, megabytes, progress_log, rate_text
from tests.servers.fake_service import FakeService
from tests.support.settable_clock import SettableClock


class _Left(Exception):
    """The test has seen enough."""


def _leave(_: float) -> None:
    raise _Left


def _lines(console: Console, words: list[str], *, rounds: int) -> None:
    """What is told while the block goes on for so many times ten seconds."""
    done = threading.Event()
    naps: list[float] = []

    def wait(ended: threading.Event, seconds: float) -> bool:
        naps.append(seconds)
        if len(naps) <= rounds:
            return False
        done.set()
        return ended.wait()

    with progress_log(console, lambda: words.pop(0), wait=wait):
        done.wait()
    assert set(naps) == {10.0}


def test_progress_line_is_printed_every_ten_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    _lines(Console(stderr=True), ["one", "two", "", "[four]"], rounds=4)

    assert capsys.readouterr().err == "one\ntwo\n[four]\n"


def test_short_work_prints_no_progress_line(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_log(Console(stderr=True), lambda: "never"):
        pass

    assert capsys.readouterr().err == ""


def test_terminal_shows_no_progress_lines(capsys: pytest.CaptureFixture[str]) -> None:
    def wait(*_: object) -> bool:
        raise AssertionError

    with progress_log(Console(stderr=True, force_terminal=True), lambda: "never", wait=wait):
        pass

    assert capsys.readouterr().err == ""


def test_the_rate_is_that_of_the_last_minute() -> None:
    clock = SettableClock()
    meter = RateMeter(clock)
    rates = []
    for clock.now, done in ((0, 0), (0.5, 4), (10, 100), (70, 100), (130, 160)):
        meter.record(done)
        rates.append((meter.per_second, meter.time_left(300)))

    assert rates == [
        (None, None),
        (None, None),
        (10.0, "30 s left"),
        (0.0, None),
        (1.0, "5 min 0 s left"),
    ]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "1 s"), (59, "59 s"), (60, "1 min 0 s"), (3599.5, "1 h 0 min"), (7500, "2 h 5 min")],
)
def test_durations_are_short(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_numbers_are_rounded_for_reading() -> None:
    assert [rate_text(n, "files") for n in (None, 0.0, 0.05, 0.5, 12.345, 1234.5)] == [
        None,
        None,
        "3.0 files/min",
        "0.5 files/s",
        "12 files/s",
        "1,234 files/s",
    ]
    assert megabytes(275_000_000) == "275.0"
    assert join_parts("a", "", None, "b") == "a · b"


def test_upload_reports_progress_from_first_to_last_file(tmp_path: Path) -> None:
    service, clock = FakeService(), SettableClock()
    files = []
    for name in ("a", "b", "c", "d"):
        (tmp_path / name).write_bytes(bytes(500_000))
        files.append(LocalFile(path=tmp_path / name, name=name, size=500_000))
    progress = UploadProgress(len(files), 2_000_000, clock)
    said = [progress.line()]
    with service.client() as client:
        progress.uploader = uploader = Uploader(
            client, UploadOptions(), on_progress=progress.record_bytes
        )
        uploader.send(files[:2])
        clock.now = 10
        said.append(progress.line())
        uploader.send(files[2:])
        service.states |= {"a": "completed", "b": "processing", "c": "failed"}
        service.stages["b"] = "embed"
        waiter = UploadWaiter(client, uploader.answers, sleep=_leave)
        progress.start_waiting(waiter)
        with pytest.raises(_Left):
            waiter.wait(progress.record_files)
        clock.now = 20
        said.append(progress.line())
        service.waits["d"] = ("budget_exceeded", "2026-11-29T00:04:10Z")
        clock.now = 30
        said.append(progress.line())

    assert said == [
        "checking: 0 of 4 files · 0.0 of 2.0 MB",
        "sending: 2 of 4 files · 1.0 of 2.0 MB · 0.1 MB/s · 10 s left",
        "processing: 2 of 4 files done · 1 failed · 1 running (1 embed) · 1 waiting · 0.2 files/s"
        " · 10 s left",
        "processing: 2 of 4 files done · 1 failed · 1 running (1 embed) · 1 waiting for"
        " budget_exceeded until 2026-11-29T00:04Z · 0.1 files/s · 20 s left",
    ]


def test_thousands_that_wait_are_counted_and_not_listed(tmp_path: Path) -> None:
    service = FakeService()
    service.states |= {str(n): "pending" for n in range(4237)}
    service.batch_of |= {str(n): "batch-1" for n in range(4237)}

    with service.client() as client:
        reasons = WaitReasons(client, [{"batchId": "batch-1"}])
        line, state = reasons.waiting(), reasons.open_jobs()

    assert (line, state) == ("waiting: 4,237 files for a free worker", "4,237 waiting")
    assert set(service.requests) == {"/api/jobs/counts"}


def test_hanging_request_does_not_block_ctrl_c(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("api.cli.progress._JOIN_SECONDS", 0.01)
    asked, answers = threading.Event(), threading.Event()

    def hang() -> str:
        asked.set()
        answers.wait()
        raise RuntimeError("the client has been closed")

    with progress_log(Console(stderr=True), hang, wait=lambda ended, _: ended.is_set()):
        asked.wait()
    [thread] = [one for one in threading.enumerate() if one.name == "progress log"]
    answers.set()
    thread.join()

    assert capsys.readouterr().err == ""
