"""`ingest watch ID`: follow a knowledge source, or all files of an upload batch, to the end."""

from datetime import datetime
from typing import Annotated, Any, Final

import typer
from rich.console import Console

from api.cli.client import Client, Refused, open_client
from api.cli.common import check_id, interrupted
from api.cli.crawl import follow
from api.cli.crawl_report import latest_run
from api.cli.follow import ENDED, Follower, Message
from api.cli.output import CommandError, count, notes, out, plain, print_json
from api.cli.telling import Pace, joined, rate, told
from api.cli.waits import Waits

# States of a source that is not completely processed.
_FAILED: Final = ("failed", "partial", "cancelled")


def watch(
    ids: Annotated[
        list[str], typer.Argument(metavar="ID…", help="Of knowledge sources or upload batches")
    ],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line")] = False,
) -> None:
    """Follow knowledge sources or upload batches until they have ended.

    Exit code 1 if one has failed, was cancelled or is partial.
    """
    with open_client() as client:
        if len(ids) == 1 and not as_json and _is_site(client, ids[0]):
            # A line per page would fill the screen.
            result = follow(client, latest_run(client, ids[0]))
            raise typer.Exit(1 if result.has_failures else 0)
        names: dict[str, str] = {}
        queries = []
        for id in ids:
            sources = _sources(client, id)
            queries.append({"knowledgeSourceId" if id in sources else "batchId": id})
            names |= sources
        view = _View(names, as_json=as_json)
        waits = Waits(client, queries)
        follower = Follower(client, list(names), on_quiet=lambda: _tell(waits))
        try:
            with told(notes(), lambda: joined(view.progress(), waits.state(), view.pace())):
                for message in follower.messages():
                    view.show(message)
        except KeyboardInterrupt:
            raise interrupted("the service goes on; the same command looks again") from None
    raise typer.Exit(1 if view.has_failures else 0)


def _tell(waits: Waits) -> None:
    words = waits.look()
    if waits.is_news:
        notes().print(plain(words))


def _is_site(client: Client, id: str) -> bool:
    source = _source(client, id)
    return source is not None and source["type"] == "site"


def _source(client: Client, id: str) -> dict[str, Any] | None:
    """The source with this id, or None."""
    check_id(id)
    try:
        source: dict[str, Any] = client.get(f"/api/knowledge-sources/{id}")
    except Refused as error:
        if error.status != 404:
            raise
        return None
    return source


def _sources(client: Client, id: str) -> dict[str, str]:
    """The paths of the sources of an id (a source or a batch), by their ids."""
    source = _source(client, id)
    if source is not None:
        return {source["id"]: source["uri"]}
    try:
        report = client.get(f"/api/batches/{id}/report")
    except Refused as error:
        if error.status != 404:
            raise
        raise CommandError(f"there is no knowledge source and no upload batch {id}") from None
    accepted = (file for file in report["files"] if file["verdict"] == "accepted")
    return {file["knowledgeSourceId"]: file["path"] for file in accepted}


class _View:
    """One line per message; with several sources, only one when each has ended."""

    def __init__(self, names: dict[str, str], *, as_json: bool) -> None:
        self._names = names
        self._console: Console | None = None if as_json else out()
        self._is_brief = len(names) > 1
        self.has_failures = False
        self._states: dict[str, str] = {}
        self._pace = Pace()

    def progress(self) -> str:
        """How many sources have ended; empty for one source, whose lines say everything."""
        states = list(self._states.values())
        ended = sum(state in ENDED for state in states)
        self._pace.note(ended)
        if not self._is_brief:
            return ""
        failed = states.count("failed")
        return joined(
            f"{ended:,} of {count(len(self._names), 'file')} done",
            f"{failed:,} failed" if failed else None,
        )

    def pace(self) -> str:
        """How fast sources end, and the time left."""
        ended = sum(state in ENDED for state in list(self._states.values()))
        left = self._pace.left(len(self._names) - ended)
        return joined(rate(self._pace.per_second, "files"), left) if self._is_brief else ""

    def show(self, message: Message) -> None:
        is_end = message["type"] in ("done", "error")
        if message.get("status"):
            self._states[message["knowledgeSourceId"]] = message["status"]
        # A failed attempt that will be retried has the state `pending`.
        self.has_failures |= message["type"] == "error" or message.get("status") in _FAILED
        if self._console is None:
            print_json(message)
        elif is_end or message["type"] == "snapshot" or not self._is_brief:
            self._console.print(plain("  ".join(self._words(message))))

    def _words(self, message: Message) -> list[str]:
        name = self._names.get(message["knowledgeSourceId"], "")
        words = [_time(message), name, str(message.get("status") or message.get("code"))]
        if message.get("stage"):
            words.append(f"{message['stage']} {message.get('percent')} %")
        if message.get("errorCode"):
            words.append(f"{message['errorCode']}: {message.get('errorMessage') or ''}")
        elif message.get("status") == "review_needed":
            words.append(message.get("errorMessage") or "")
        elif message.get("status") == "completed":
            words.append(f"{message.get('chunkCount')} chunks")
        return words


def _time(message: dict[str, Any]) -> str:
    at = message.get("at")
    when = datetime.fromisoformat(at) if at else datetime.now().astimezone()
    return when.astimezone().strftime("%H:%M:%S")
