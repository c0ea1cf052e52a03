"""`ingest upload PATH…`: send files and folders, show progress, and report failures."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal

import typer
from rich.markup import escape
from rich.progress import DownloadColumn, MofNCompleteColumn
from rich.progress import TimeRemainingColumn as Remaining

from api.cli import exits
from api.cli.arguments import COLLECTIONS, Joined, JsonDocument, check_id, json_object
from api.cli.client.http_client import Client, open_client
from api.cli.client.local_files import LocalFile, find_files
from api.cli.client.upload_waiter import UploadWaiter
from api.cli.client.uploader import Uploader, UploadOptions
from api.cli.commands.upload_report import UploadResult, print_result, print_skipped
from api.cli.output import CommandError, count, join_parts, notes, out, plain, print_json
from api.cli.progress import RateMeter, files_line, megabytes, progress_bar, progress_log

_PROCESSING: Final = "processing"


def upload(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders", show_default=False)],
    *,
    metadata: Annotated[
        str | None, typer.Option(help="JSON object to store with every file")
    ] = None,
    priority: Annotated[
        int,
        typer.Option(min=-100, max=100, help="Higher is processed first"),
    ] = 0,
    on_conflict: Annotated[
        Literal["update", "skip"],
        typer.Option(help="If a path is stored with other content"),
    ] = "update",
    collection: Joined = None,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait until all files are processed")
    ] = True,
    as_json: JsonDocument = False,
) -> None:
    """Upload files and folders. Run it again to resume: stored files are not sent again.

    Exit code 1 if a file was rejected or failed.
    """
    check_id(collection, hint=COLLECTIONS)
    options = UploadOptions(
        metadata=json_object(metadata),
        priority=priority,
        on_conflict=on_conflict,
        collection_id=collection,
    )
    found = find_files(paths)
    if not found.files:
        raise CommandError("there are no files to upload")
    with open_client() as client:
        result = upload_files(client, found.files, options, wait=wait)
    result.skipped += found.skipped
    if as_json:
        print_json(result.as_json())
    else:
        print_skipped(notes(), result.skipped)
        print_result(out(), result)
        if not wait and result.answers.batch_id:
            out().print(f"follow it with: ingest watch {result.answers.batch_id}")
    raise typer.Exit(exits.FAILED if result.has_failures else 0)


def upload_files(
    client: Client, files: Sequence[LocalFile], options: UploadOptions, *, wait: bool = True
) -> UploadResult:
    """Send the files that the service does not have, and show progress."""
    progress = UploadProgress(len(files), sum(file.size for file in files))
    with progress_log(notes(), progress.line):
        uploader = _send(client, options, files, progress)
        waiter = UploadWaiter(client, uploader.answers)
        if wait:
            _wait(waiter, uploader, progress)
        states, failed = waiter.outcome()
    answers = uploader.answers
    return UploadResult(
        answers=answers, states=states, problems=failed, skipped=list(answers.skipped)
    )


class UploadProgress:
    """The progress of an upload, as a log line."""

    def __init__(self, files: int, size: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._files, self._size = files, size
        self._clock = clock
        self._meter = RateMeter(clock)
        self._meter.record(0)
        self._bytes_done = 0
        self.uploader: Uploader | None = None
        self.waiter: UploadWaiter | None = None
        self._ended = self._accepted = 0

    def record_bytes(self, done: int) -> None:
        self._bytes_done = done

    def record_files(self, ended: int, accepted: int) -> None:
        self._ended, self._accepted = ended, accepted

    def start_waiting(self, waiter: UploadWaiter) -> None:
        """Switch to the progress of processing, after all files have been sent."""
        self.waiter = waiter
        self._meter = RateMeter(self._clock)
        self._meter.record(0)

    def line(self) -> str:
        if self.waiter is not None:
            line = files_line(
                self._meter,
                ended=self._ended,
                total=self._accepted,
                failed=self.waiter.states["failed"],
                open_jobs=self.waiter.open_jobs(),
            )
            return f"{_PROCESSING}: {line}"
        self._meter.record(self._bytes_done)
        speed = self._meter.per_second
        return join_parts(
            f"{self.uploader.phase if self.uploader else 'checking'}: "
            f"{self.uploader.files_done if self.uploader else 0:,} of {count(self._files, 'file')}",
            f"{megabytes(self._bytes_done)} of {megabytes(self._size)} MB",
            f"{megabytes(speed)} MB/s" if speed else None,
            self._meter.time_left(self._size - self._bytes_done),
        )


def _send(
    client: Client, options: UploadOptions, files: Sequence[LocalFile], progress: UploadProgress
) -> Uploader:
    size = sum(file.size for file in files)
    with progress_bar("checking", size, DownloadColumn(), Remaining()) as (bar, task):

        def on_progress(done: int) -> None:
            progress.record_bytes(done)
            bar.update(task, completed=done, description=uploader.phase)

        progress.uploader = uploader = Uploader(client, options, on_progress=on_progress)
        try:
            uploader.send(files)
        except KeyboardInterrupt:
            bar.stop()
            stored = uploader.answers.verdicts.total()
            raise exits.interrupted(
                f"the service has at least {stored:,} of {count(len(files), 'file')} and processes "
                "them; run the same command again to send the rest"
            ) from None
    return uploader


def _wait(waiter: UploadWaiter, uploader: Uploader, progress: UploadProgress) -> None:
    progress.start_waiting(waiter)
    with progress_bar(_PROCESSING, None, MofNCompleteColumn(), Remaining()) as (bar, task):

        def on_progress(ended: int, total: int) -> None:
            progress.record_files(ended, total)
            bar.update(task, completed=ended, total=total)

        def on_waiting(reasons: str, has_changed: bool) -> None:
            if bar.console.is_terminal:
                failed = waiter.states["failed"]
                title = join_parts(_PROCESSING, f"{failed:,} failed" if failed else None)
                bar.update(task, description=escape(reasons) or title)
            elif has_changed:
                bar.console.print(plain(reasons))

        try:
            waiter.wait(on_progress, on_waiting=on_waiting)
        except KeyboardInterrupt:
            bar.stop()
            batch = uploader.answers.batch_id
            other = f", or: ingest watch {batch}" if batch else ""
            raise exits.interrupted(
                "the service has all files and processes them; to follow them, run the same "
                f"command again{other}"
            ) from None
