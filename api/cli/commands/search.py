"""`ingest search QUERY`: the best hits, as text or JSON lines."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

import typer
from rich.text import Text

from api.cli.arguments import COLLECTIONS, JsonLines, check_id, json_object
from api.cli.client.http_client import open_client
from api.cli.output import count, notes, out, plain, print_json

Hit = Mapping[str, Any]

_EXCERPT_CHARACTERS: Final = 400


def search(
    query: Annotated[str, typer.Argument(help="A question or keywords")],
    *,
    limit: Annotated[int, typer.Option(min=1, max=100, help="Maximum number of hits")] = 5,
    mode: Annotated[
        Literal["hybrid", "vector", "keyword"],
        typer.Option(help="By meaning (vector), by words (keyword), or both"),
    ] = "hybrid",
    source: Annotated[
        list[str] | None, typer.Option(help="Only this knowledge source (id; repeatable)")
    ] = None,
    collection: Annotated[
        list[str] | None, typer.Option(help="Only sources in this collection (id; repeatable)")
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(help="""Conditions as JSON, such as '{"metadata.year": {"gte": 2025}}'"""),
    ] = None,
    as_json: JsonLines = False,
) -> None:
    """Search what was uploaded."""
    for id in source or ():
        check_id(id)
    for id in collection or ():
        check_id(id, hint=COLLECTIONS)
    body: dict[str, Any] = {"query": query, "limit": limit, "mode": mode}
    filters = {
        "knowledgeSourceIds": source,
        "collectionIds": collection,
        "where": json_object(where, option="--where"),
    }
    body["filter"] = {name: value for name, value in filters.items() if value}
    with open_client() as client:
        answer = client.post("/api/search", body)
    if "earlierModel" in answer["degraded"]:
        notes().print(plain(f"some files by keywords only: {answer['degradedReason']}"))
    elif answer["degraded"]:
        notes().print(plain(f"searched by keywords only: {answer['degradedReason']}"))
    if answer["reranked"] is False:
        notes().print(plain(f"not reranked: {answer['rerankReason']}"))
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


def _headline(number: int, hit: Hit) -> Text:
    place = plain(hit["uri"] + _pages(hit)).plain
    line = Text(f"{number}. {place}", style="bold")
    if hit["section"]:
        line = Text.assemble(line, (f"  {plain(' > '.join(hit['section'])).plain}", "cyan"))
    same = f"  and {count(hit['duplicateCount'], 'duplicate')}" if hit["duplicateCount"] else ""
    return Text.assemble(line, (f"  {hit['score']:.3f}{same}", "dim"))


def _pages(hit: Hit) -> str:
    """`, page 3`, or `, pages 3 to 4` for a hit that spans pages."""
    first, last = hit["page"], hit["pageEnd"]
    if not first:
        return ""
    return f", page {first}" if last in (None, first) else f", pages {first} to {last}"


def _excerpt(content: str) -> Text:
    text = plain(" ".join(content.split()))
    text.truncate(_EXCERPT_CHARACTERS, overflow="ellipsis")
    return text
