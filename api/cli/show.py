"""`ingest search`, `sources` and `jobs`: what is there, as tables or as JSON lines."""

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Final, Literal

import typer
from rich.table import Table
from rich.text import Text

from api.cli.client import open_client
from api.cli.output import out, plain, print_json
from ingest.model import JobStatus, SourceStatus

Json = Annotated[bool, typer.Option("--json", help="One JSON object per line")]
Limit = Annotated[int, typer.Option(min=1, help="How many at most")]
Batch = Annotated[str | None, typer.Option(help="Id of an upload batch")]

Row = Mapping[str, Any]
Cell = Callable[[Row], object]

_LONGEST_HIT: Final = 400

_SOURCES: Final[dict[str, Cell]] = {
    "id": lambda row: row["id"],
    "state": lambda row: row["status"],
    "chunks": lambda row: row["chunkCount"],
    "code": lambda row: row["errorCode"],
    "path or URL": lambda row: row["uri"],
}
_JOBS: Final[dict[str, Cell]] = {
    "id": lambda row: row["id"],
    "type": lambda row: row["type"],
    "state": lambda row: row["status"],
    "attempt": lambda row: f"{row['attempts']}/{row['maxAttempts']}",
    "doing or code": lambda row: _doing(row) or row["lastErrorCode"] or row["waitReason"],
}


def search(
    query: Annotated[str, typer.Argument(help="A question, or words")],
    *,
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many hits at most")] = 5,
    mode: Annotated[
        Literal["hybrid", "vector", "keyword"], typer.Option(help="By meaning, by words, or both")
    ] = "hybrid",
    source: Annotated[
        list[str] | None, typer.Option(help="Only in this knowledge source; may be repeated")
    ] = None,
    as_json: Json = False,
) -> None:
    """Search what was uploaded."""
    body: dict[str, Any] = {"query": query, "limit": limit, "mode": mode}
    if source:
        body["filter"] = {"knowledgeSourceIds": source}
    with open_client() as client:
        hits = client.post("/api/search", body)["hits"]
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
    batch: Batch = None,
    uri: Annotated[str | None, typer.Option(help="The exact path or URL")] = None,
    limit: Limit = 50,
    as_json: Json = False,
) -> None:
    """List knowledge sources, newest first."""
    with open_client() as client:
        query = {"status": status, "batchId": batch, "uri": uri}
        _list(client.pages("/api/knowledge-sources", limit=limit, **query), _SOURCES, as_json)


def jobs(
    *,
    status: Annotated[JobStatus | None, typer.Option(help="Only in this state")] = None,
    type: Annotated[str | None, typer.Option(help="Only of this type")] = None,
    source: Annotated[str | None, typer.Option(help="Id of a knowledge source")] = None,
    batch: Batch = None,
    error: Annotated[str | None, typer.Option(help="Only with this error code")] = None,
    limit: Limit = 50,
    as_json: Json = False,
) -> None:
    """List processing jobs, newest first."""
    with open_client() as client:
        query = {
            "status": status,
            "type": type,
            "knowledgeSourceId": source,
            "batchId": batch,
            "errorCode": error,
        }
        _list(client.pages("/api/jobs", limit=limit, **query), _JOBS, as_json)


def _list(rows: Iterable[Row], columns: Mapping[str, Cell], as_json: bool) -> None:
    if as_json:
        for row in rows:
            print_json(row)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(name, no_wrap=name in ("id", "state"), overflow="fold")
    for row in rows:
        table.add_row(*(plain(cell(row)) for cell in columns.values()))
    out().print(table if table.row_count else "none")


def _doing(job: Row) -> str | None:
    return f"{job['stage']} {job['progress']} %" if job["status"] == "processing" else None


def _headline(number: int, hit: Row) -> Text:
    place = hit["uri"] + (f", page {hit['page']}" if hit["page"] else "")
    line = Text(f"{number}. ", style="bold") + Text(plain(place).plain, style="bold")
    if hit["headings"]:
        line += Text(f"  {plain(' > '.join(hit['headings'])).plain}", style="cyan")
    return line + Text(f"  {hit['score']:.3f}", style="dim")


def _excerpt(content: str) -> Text:
    text = plain(" ".join(content.split()))
    text.truncate(_LONGEST_HIT, overflow="ellipsis")
    return text
