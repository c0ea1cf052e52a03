"""`ingest collections`, `ingest collection add|delete`: named sets of knowledge sources."""

from collections.abc import Mapping
from typing import Annotated, Final

import typer

from api.cli.arguments import COLLECTIONS, JsonDocument, JsonLines, Limit, check_id, json_object
from api.cli.client.http_client import open_client
from api.cli.listing import Cell, print_rows
from api.cli.output import out, plain, print_json

_COLUMNS: Final[Mapping[str, Cell]] = {
    "id": lambda row: row["id"],
    "sources": lambda row: row["sourceCount"],
    "name": lambda row: row["name"],
}


def collections(*, limit: Limit = 50, as_json: JsonLines = False) -> None:
    """List collections, newest first."""
    with open_client() as client:
        rows = client.pages("/api/collections", limit=limit)
        print_rows(rows, _COLUMNS, long="name", as_json=as_json)


def add(
    name: Annotated[str, typer.Argument(help="Name of the new collection")],
    *,
    description: Annotated[str, typer.Option(help="What it is for")] = "",
    metadata: Annotated[
        str | None, typer.Option(help="JSON object to store with the collection")
    ] = None,
    as_json: JsonDocument = False,
) -> None:
    """Make an empty collection; upload or crawl into it with --collection."""
    body = {
        "name": name,
        "description": description,
        "metadata": json_object(metadata) or {},
    }
    with open_client() as client:
        added = client.post("/api/collections", body)
    if as_json:
        print_json(added)
    else:
        out().print(plain(f"{added['id']}  {added['name']}"))


def delete(
    id: Annotated[str, typer.Argument(help="Id of a collection")], *, as_json: JsonDocument = False
) -> None:
    """Delete a collection. Its sources stay."""
    check_id(id, hint=COLLECTIONS)
    with open_client() as client:
        client.delete(f"/api/collections/{id}")
    if as_json:
        print_json({"id": id, "status": "deleted"})
    else:
        out().print(plain(f"deleted {id}"))
