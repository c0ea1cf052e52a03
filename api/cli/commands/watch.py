"""`ingest watch ID`: follow a knowledge source, or all files of an upload batch, to the end."""

from datetime import UTC, datetime
from typing import Annotated, Any, Final

import typer
from rich.console import Console

from api.cli import exits
from api.cli.arguments import JsonLines, check_id
from api.cli.client.crawl_waiter import CrawlRun
from api.cli.client.event_follower import ENDED, EventFollower, Message
from api.cli.client.http_client import Client, open_client
from api.cli.client.wait_reasons import WaitReasons
from api.cli.commands.crawl import follow
from api.cli.output import (
    CommandError,
    local_time,
    notes,
    out,
    plain,
    print_json,
)
from api.cli.progress import RateMeter, files_line, progress_log

# States of a source that is not completely processed.
_FAILED: Final = ("failed", "partial", "cancelled")


def watch(
    ids: Annotated[
        list[str], typer.Argument(metavar="ID…", help="Ids of knowledge sources or upload batches")
    ],
    *,
    as_json: JsonLines = False,
) -> None:
    """Follow knowledge sources or upload batches until they have ended.

    Exit code 1 if one has failed, was cancelled or is partial.
    """
    with open_client() as client:
        # For a site, a line per page would fill the screen.
        source = _source(client, ids[0]) if len(ids) == 1 and not as_json else None
        if source is not None and source["type"] == "site":
            result = follow(client, CrawlRun.latest(client, ids[0]))
            raise typer.Exit(exits.FAILED if result.has_failures else 0)
        names: dict[str, str] = {}
        queries = []
        for id in ids:
            named = _names(client, id)
            queries.append({"knowledgeSourceId" if id in named else "batchId": id})
            names |= named
        printer = _EventPrinter(names, as_json=as_json)
        reasons = WaitReasons(client, queries)
        follower = EventFollower(client, list(names), on_quiet=lambda: _print_reasons(reasons))
        try:
            with progress_log(notes(), lambda: printer.line(reasons.open_jobs())):
                for message in follower.messages():
                    printer.show(message)
        except KeyboardInterrupt:
            raise exits.interrupted(
                "the service continues; run the same command again to follow it"
            ) from None
    raise typer.Exit(exits.FAILED if printer.has_failures else 0)


def _print_reasons(reasons: WaitReasons) -> None:
    line = reasons.waiting()
    if reasons.has_changed:
        notes().print(plain(line))


def _source(client: Client, id: str) -> dict[str, Any] | None:
    """The source with this id, or None."""
    check_id(id)
    source: dict[str, Any] | None = client.find(f"/api/knowledge-sources/{id}")
    return source


def _names(client: Client, id: str) -> dict[str, str]:
    """The paths of the sources of an id (a source or a batch), by their ids."""
    source = _source(client, id)
    if source is not None:
        return {source["id"]: source["uri"]}
    report = client.find(f"/api/batches/{id}/report")
    if report is None:
        raise CommandError(f"there is no knowledge source or upload batch {id}")
    accepted = (file for file in report["files"] if file["verdict"] == "accepted")
    return {file["knowledgeSourceId"]: file["path"] for file in accepted}


class _EventPrinter:
    """One line per message; with several sources, only one when each has ended."""

    def __init__(self, names: dict[str, str], *, as_json: bool) -> None:
        self._names = names
        self._console: Console | None = None if as_json else out()
        self._is_brief = len(names) > 1
        self.has_failures = False
        self._states: dict[str, str] = {}
        self._meter = RateMeter()

    def line(self, open_jobs: str) -> str:
        """The progress of all sources; for one source, whose events are printed, only its jobs."""
        if not self._is_brief:
            return open_jobs
        states = list(self._states.values())
        return files_line(
            self._meter,
            ended=sum(state in ENDED for state in states),
            total=len(self._names),
            failed=states.count("failed"),
            open_jobs=open_jobs,
        )

    def show(self, message: Message) -> None:
        is_end = message["type"] in ("done", "error")
        if message.get("status"):
            self._states[message["knowledgeSourceId"]] = message["status"]
        # A failed attempt that will be retried has the state `pending`.
        self.has_failures |= message["type"] == "error" or message.get("status") in _FAILED
        if self._console is None:
            print_json(message)
        elif is_end or message["type"] == "snapshot" or not self._is_brief:
            self._console.print(plain("  ".join(self._fields(message))))

    def _fields(self, message: Message) -> list[str]:
        name = self._names.get(message["knowledgeSourceId"], "")
        fields = [_time(message), name, str(message.get("status") or message.get("code"))]
        if message.get("stage"):
            fields.append(f"{message['stage']} {message.get('percent')} %")
        if message.get("errorCode"):
            fields.append(f"{message['errorCode']}: {message.get('errorMessage') or ''}")
        elif message.get("status") == "review_needed":
            fields.append(message.get("errorMessage") or "")
        elif message.get("status") == "completed":
            fields.append(f"{message.get('chunkCount')} chunks")
        return fields


def _time(message: Message) -> str:
    return local_time(message.get("at") or datetime.now(UTC).isoformat(), "%H:%M:%S")
