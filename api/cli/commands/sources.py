"""`ingest sources`, `read-again ID…`, `delete ID…`: list, read again and delete sources."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal

import typer

from api.cli.arguments import BATCHES, COLLECTIONS, Batch, Collection, JsonLines, Limit, check_id
from api.cli.client.http_client import open_client
from api.cli.exits import continue_on_error
from api.cli.listing import Cell, Row, print_rows
from api.cli.output import CommandError, count, local_time, out, plain, print_json
from ingest.model import SourceStatus

_COLUMNS: Final[Mapping[str, Cell]] = {
    "id": lambda row: row["id"],
    "type": lambda row: row["type"],
    "status": lambda row: row["status"],
    "chunks": lambda row: row["chunkCount"],
    "code": lambda row: row["errorCode"],
    "next fetch": lambda row: _minute(row["nextRescrapeAt"]),
    "path or URL": lambda row: _place(row),
}


def sources(
    *,
    status: Annotated[SourceStatus | None, typer.Option(help="Only this status")] = None,
    type: Annotated[
        Literal["file", "url", "site"] | None, typer.Option(help="Only this type")
    ] = None,
    batch: Batch = None,
    uri: Annotated[str | None, typer.Option(help="Only this exact path or URL")] = None,
    collection: Collection = None,
    limit: Limit = 50,
    as_json: JsonLines = False,
) -> None:
    """List knowledge sources, newest first."""
    check_id(batch, hint=BATCHES)
    check_id(collection, hint=COLLECTIONS)
    query = {
        "status": status,
        "type": type,
        "batchId": batch,
        "uri": uri,
        "collectionId": collection,
    }
    with open_client() as client:
        rows = client.pages("/api/knowledge-sources", limit=limit, **query)
        print_rows(rows, _COLUMNS, long="path or URL", as_json=as_json)


def delete(
    ids: Annotated[list[str], typer.Argument(metavar="ID…", help="Ids of knowledge sources")],
    *,
    as_json: JsonLines = False,
) -> None:
    """Delete knowledge sources in any state, with all their documents, permanently."""
    for id in ids:
        check_id(id)
    console = out()
    with open_client() as client, continue_on_error() as attempt:
        for id in ids:
            with attempt(id):
                client.delete(f"/api/knowledge-sources/{id}")
                if as_json:
                    print_json({"id": id, "status": "deleted"})
                else:
                    console.print(plain(f"{id}  deleted"))


def read_again(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID…]", help="Ids of knowledge sources")
    ] = None,
    *,
    all_sources: Annotated[
        bool, typer.Option("--all", help="All sources that can be read again")
    ] = False,
    as_json: JsonLines = False,
) -> None:
    """Read sources again, unchanged ones too: after an upgrade, or when OCR was switched on.

    Files are read from their stored bytes, pages and sites are fetched again. Stored content is
    searchable until then, and chunks that stay the same keep their vectors.
    """
    if all_sources == bool(ids):
        raise CommandError("give ids or --all")
    for id in ids or ():
        check_id(id)
    console = out()
    with open_client() as client, continue_on_error() as attempt:
        if all_sources:
            body = {"action": "read_again", "filter": {}}
            started = client.post("/api/knowledge-sources/bulk", body)
            if as_json:
                print_json(started)
            else:
                what = count(started["rowCount"], "source")
                console.print(
                    plain(f"{what}: job {started['jobId']} queues those that can be read")
                )
        for id in ids or ():
            with attempt(id):
                started = client.post(f"/api/knowledge-sources/{id}/read-again", None)
                if as_json:
                    print_json(started)
                else:
                    console.print(plain(f"{id}  queued"))


def _minute(time: str | None) -> str | None:
    return None if time is None else local_time(time, "%Y-%m-%d %H:%M")


def _place(source: Row) -> str:
    """The URI, after the name if the source was given one."""
    is_named = source["type"] != "file" and source["name"].strip("/") not in source["uri"]
    return f"{source['name']}  {source['uri']}" if is_named else str(source["uri"])
