"""`ingest upload PATH…`: files and folders in, progress, and a report of what failed and why."""

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
    """Upload files and folders; run it again to resume: what is there is not sent again.

    Exit code 1 if a file was rejected or failed.
    """
    options = Options(metadata=json_object(metadata), priority=priority, on_conflict=on_conflict)
    found = find_files(paths)
    if not found.files:
        raise CommandError("there is no file to upload")
    with open_client() as client:
        sender = _send(client, options, found)
        waiter = Waiter(client, sender.outcome)
        if wait:
            _wait(waiter, sender)
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


def _send(client: Client, options: Options, found: Found) -> Sender:
    size = sum(file.size for file in found.files)
    with progress_bar("sending", size, DownloadColumn(), Remaining()) as (progress, task):
        sender = Sender(client, options, show=lambda done: progress.update(task, completed=done))
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


def _wait(waiter: Waiter, sender: Sender) -> None:
    with progress_bar(_WORKING, None, MofNCompleteColumn(), Remaining()) as (progress, task):

        def tell(words: str, is_news: bool) -> None:
            if progress.console.is_terminal:
                progress.update(task, description=escape(words) or _WORKING)
            elif is_news:
                progress.console.print(plain(words))

        try:
            waiter.wait(
                lambda done, total: progress.update(task, completed=done, total=total), tell=tell
            )
        except KeyboardInterrupt:
            progress.stop()
            batch = sender.outcome.batch_id
            other = f", or with: ingest watch {batch}" if batch else ""
            raise interrupted(
                "the service has all files and goes on with them; look again with the same "
                f"command{other}"
            ) from None
