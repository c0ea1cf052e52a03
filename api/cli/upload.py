"""`ingest upload PATH…`: send files and folders, show progress, and report failures."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final, Literal

import typer
from rich.markup import escape
from rich.progress import DownloadColumn, MofNCompleteColumn
from rich.progress import TimeRemainingColumn as Remaining

from api.cli.client import Client, open_client
from api.cli.common import interrupted, json_object, progress_bar
from api.cli.files import Found, find_files
from api.cli.output import CommandError, count, notes, out, plain, print_json
from api.cli.report import Waiter, print_result, print_skipped
from api.cli.sending import Options, Sender
from api.cli.telling import Pace, joined, megabytes, rate, told

_WORKING: Final = "processing"


def upload(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders", show_default=False)],
    *,
    metadata: Annotated[
        str | None, typer.Option(help="A JSON object to keep with every file")
    ] = None,
    priority: Annotated[int, typer.Option(min=-100, max=100, help="Higher comes first")] = 0,
    on_conflict: Annotated[
        Literal["update", "skip"], typer.Option(help="When a path is known with other bytes")
    ] = "update",
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Until all files are processed")
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document")] = False,
) -> None:
    """Upload files and folders; run it again to resume: files that are stored are not sent again.

    Exit code 1 if a file was rejected or failed.
    """
    options = Options(metadata=json_object(metadata), priority=priority, on_conflict=on_conflict)
    found = find_files(paths)
    if not found.files:
        raise CommandError("there is no file to upload")
    with open_client() as client:
        telling = Telling(len(found.files), sum(file.size for file in found.files))
        with told(notes(), telling.words):
            sender = _send(client, options, found, telling)
            waiter = Waiter(client, sender.outcome)
            if wait:
                _wait(waiter, sender, telling)
            result = waiter.result()
    result.skipped += found.skipped
    if as_json:
        print_json(result.as_json())
    else:
        print_skipped(notes(), result.skipped)
        print_result(out(), result)
        if not wait and sender.outcome.batch_id:
            out().print(f"watch it with: ingest watch {sender.outcome.batch_id}")
    raise typer.Exit(1 if result.has_failures else 0)


class Telling:
    """The progress of an upload, in words for a log."""

    def __init__(self, files: int, size: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._files, self._size = files, size
        self._clock = clock
        self._pace = Pace(clock)
        self._pace.note(0)
        self._done = 0
        self.sender: Sender | None = None
        self.waiter: Waiter | None = None
        self._ended = self._of = 0

    def sent(self, done: int) -> None:
        """Record how many bytes are done."""
        self._done = done

    def processed(self, ended: int, of: int) -> None:
        self._ended, self._of = ended, of

    def begin(self, waiter: Waiter) -> None:
        """All files are sent; switch to the progress of processing."""
        self.waiter = waiter
        self._pace = Pace(self._clock)
        self._pace.note(0)

    def words(self) -> str:
        if self.waiter is not None:
            return self._processing(self.waiter)
        self._pace.note(self._done)
        speed = self._pace.per_second
        return joined(
            f"{self.sender.doing if self.sender else 'checking'}: "
            f"{self.sender.files_done if self.sender else 0:,} of {count(self._files, 'file')}",
            f"{megabytes(self._done)} of {megabytes(self._size)} MB",
            f"{megabytes(speed)} MB/s" if speed else None,
            self._pace.left(self._size - self._done),
        )

    def _processing(self, waiter: Waiter) -> str:
        self._pace.note(self._ended)
        failed = waiter.states["failed"]
        return joined(
            f"{_WORKING}: {self._ended:,} of {count(self._of, 'file')} done",
            f"{failed:,} failed" if failed else None,
            waiter.open_jobs(),
            rate(self._pace.per_second, "files"),
            self._pace.left(self._of - self._ended),
        )


def _send(client: Client, options: Options, found: Found, telling: Telling) -> Sender:
    size = sum(file.size for file in found.files)
    with progress_bar("checking", size, DownloadColumn(), Remaining()) as (progress, task):

        def show(done: int) -> None:
            telling.sent(done)
            progress.update(task, completed=done, description=sender.doing)

        telling.sender = sender = Sender(client, options, show=show)
        try:
            sender.send(found.files)
        except KeyboardInterrupt:
            progress.stop()
            there = sender.outcome.verdicts.total()
            raise interrupted(
                f"the service has at least {there:,} of {count(len(found.files), 'file')} and goes "
                "on with them; the same command again sends only the rest"
            ) from None
    return sender


def _wait(waiter: Waiter, sender: Sender, telling: Telling) -> None:
    telling.begin(waiter)
    with progress_bar(_WORKING, None, MofNCompleteColumn(), Remaining()) as (progress, task):

        def show(done: int, total: int) -> None:
            telling.processed(done, total)
            progress.update(task, completed=done, total=total)

        def tell(words: str, is_news: bool) -> None:
            if progress.console.is_terminal:
                failed = waiter.states["failed"]
                working = joined(_WORKING, f"{failed:,} failed" if failed else None)
                progress.update(task, description=escape(words) or working)
            elif is_news:
                progress.console.print(plain(words))

        try:
            waiter.wait(show, tell=tell)
        except KeyboardInterrupt:
            progress.stop()
            batch = sender.outcome.batch_id
            other = f", or with: ingest watch {batch}" if batch else ""
            raise interrupted(
                "the service has all files and goes on with them; look again with the same "
                f"command{other}"
            ) from None
