"""`ingest search`, `sources` and `jobs`: list what is stored, as tables or JSON lines."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, Final, Literal

import typer
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from api.cli.client import open_client
from api.cli.common import BATCHES, check_id
from api.cli.output import NO_TERMINAL, notes, out, plain, print_json
from ingest.model import JobStatus, SourceStatus

Json = Annotated[bool, typer.Option("--json", help="One JSON object per line")]
Limit = Annotated[int, typer.Option(min=1, help="How many at most")]
Batch = Annotated[str | None, typer.Option(help="Id of an upload batch")]

Row = Mapping[str, Any]
Cell = Callable[[Row], object]

_LONGEST_HIT: Final = 400
_LONG: Final = ("path or URL", "doing or code")
_LEAST: Final = 40

_SOURCES: Final[dict[str, Cell]] = {
    "id": lambda row: row["id"],
    "type": lambda row: row["type"],
    "state": lambda row: row["status"],
    "chunks": lambda row: row["chunkCount"],
    "code": lambda row: row["errorCode"],
    "next fetch": lambda row: _minute(row["nextRescrapeAt"]),
    "path or URL": lambda row: _place(row),
}
_JOBS: Final[dict[str, Cell]] = {
    "id": lambda row: row["id"],
    "type": lambda row: row["type"],
    "state": lambda row: row["status"],
    "attempt": lambda row: f"{row['attempts']}/{row['maxAttempts']}",
    "doing or code": lambda row: _doing(row) or _why(row),
}


def search(
    query: Annotated[str, typer.Argument(help="A question, or words")],
    *,
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many hits at most")] = 5,
    mode: Annotated[
        Literal["hybrid", "vector", "keyword"],
        typer.Option(help="Both, by meaning, by words"),
    ] = "hybrid",
    source: Annotated[
        list[str] | None, typer.Option(help="Only in this knowledge source; may be repeated")
    ] = None,
    as_json: Json = False,
) -> None:
    """Search what was uploaded."""
    for id in source or ():
        check_id(id)
    body: dict[str, Any] = {"query": query, "limit": limit, "mode": mode}
    if source:
        body["filter"] = {"knowledgeSourceIds": source}
    with open_client() as client:
        answer = client.post("/api/search", body)
    if answer["degraded"]:
        notes().print(plain(f"found by words alone: {answer['degradedReason']}"))
    hits = answer["hits"]
    if as_json:
        for hit in hits:
            print_json(hit)
        return
    console = out()
    if not hits:
        console.print("nothing found")
    for number, hit in enumerate(hits, start=1):
        console.print(_headline(number, hit))
        console.print(_excerpt(hit["content"]))
        console.print()


def sources(
    *,
    status: Annotated[SourceStatus | None, typer.Option(help="Only in this state")] = None,
    type: Annotated[
        Literal["file", "url", "site"] | None, typer.Option(help="Only of this type")
    ] = None,
    batch: Batch = None,
    uri: Annotated[str | None, typer.Option(help="The exact path or URL")] = None,
    limit: Limit = 50,
    as_json: Json = False,
) -> None:
    """List knowledge sources, newest first."""
    if batch is not None:
        check_id(batch, hint=BATCHES)
    with open_client() as client:
        query = {"status": status, "type": type, "batchId": batch, "uri": uri}
        _list(client.pages("/api/knowledge-sources", limit=limit, **query), _SOURCES, as_json)


def jobs(
    *,
    status: Annotated[JobStatus | None, typer.Option(help="Only in this state")] = None,
    type: Annotated[str | None, typer.Option(help="Only of this type")] = None,
    source: Annotated[str | None, typer.Option(help="Id of a knowledge source")] = None,
    batch: Batch = None,
    code: Annotated[
        str | None, typer.Option("--code", "--error", help="Only with this error code")
    ] = None,
    limit: Limit = 50,
    as_json: Json = False,
) -> None:
    """List processing jobs, newest first."""
    if source is not None:
        check_id(source)
    if batch is not None:
        check_id(batch, hint=BATCHES)
    with open_client() as client:
        query = {
            "status": status,
            "type": type,
            "knowledgeSourceId": source,
            "batchId": batch,
            "errorCode": code,
        }
        _list(client.pages("/api/jobs", limit=limit, **query), _JOBS, as_json)


def _list(rows: Iterable[Row], columns: Mapping[str, Cell], as_json: bool) -> None:
    if as_json:
        for row in rows:
            print_json(row)
        return
    lines = [[plain(cell(row)) for cell in columns.values()] for row in rows]
    # Leave out empty columns.
    said = [number for number in range(len(columns)) if any(line[number] for line in lines)]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in [list(columns)[number] for number in said]:
        is_long = name in _LONG
        table.add_column(name, no_wrap=not is_long, overflow="fold", min_width=_LEAST * is_long)
    for line in lines:
        table.add_row(*[line[number] for number in said])
    console = out()
    wide = console.options.update(width=NO_TERMINAL)
    # In a narrow window the terminal wraps lines, instead of the table wrapping words.
    console.width = max(console.width, Measurement.get(console, wide, table).minimum)
    console.print(table if lines else "none")


def _minute(time: str | None) -> str | None:
    """In local time, to the minute."""
    if time is None:
        return None
    return datetime.fromisoformat(time).astimezone().strftime("%Y-%m-%d %H:%M")


def _place(source: Row) -> str:
    """The URI, after the name if the source was given one."""
    is_named = source["type"] != "file" and source["name"].strip("/") not in source["uri"]
    return f"{source['name']}  {source['uri']}" if is_named else str(source["uri"])


def _doing(job: Row) -> str | None:
    if job["status"] != "processing":
        return None
    return f"{job['stage'] or 'begun'} {job['progress']} %"


def _why(job: Row) -> object:
    return job["reviewReason"] or job["lastErrorCode"] or job["waitReason"]


def _pages(hit: Mapping[str, Any]) -> str:
    """`, page 3`, or `, pages 3 to 4` for a hit that spans pages."""
    first, last = hit["page"], hit["pageEnd"]
    if not first:
        return ""
    return f", page {first}" if last in (None, first) else f", pages {first} to {last}"


def _headline(number: int, hit: Row) -> Text:
    place = hit["uri"] + _pages(hit)
    line = Text(f"{number}. ", style="bold") + Text(plain(place).plain, style="bold")
    if hit["headings"]:
        line += Text(f"  {plain(' > '.join(hit['headings'])).plain}", style="cyan")
    return line + Text(f"  {hit['score']:.3f}", style="dim")


def _excerpt(content: str) -> Text:
    text = plain(" ".join(content.split()))
    text.truncate(_LONGEST_HIT, overflow="ellipsis")
    return text
