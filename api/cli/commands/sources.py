"""`ingest sources`, `ingest delete ID…`: list and delete knowledge sources."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal

import typer

from api.cli.arguments import BATCHES, COLLECTIONS, Batch, Collection, JsonLines, Limit, check_id
from api.cli.client.http_client import open_client
from api.cli.exits import continue_on_error
from api.cli.listing import Cell, Row, print_rows
from api.cli.output import local_time, out, plain, print_json
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


def _minute(time: str | None) -> str | None:
    return None if time is None else local_time(time, "%Y-%m-%d %H:%M")


def _place(source: Row) -> str:
    """The URI, after the name if the source was given one."""
    is_named = source["type"] != "file" and source["name"].strip("/") not in source["uri"]
    return f"{source['name']}  {source['uri']}" if is_named else str(source["uri"])
