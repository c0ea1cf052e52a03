"""`ingest crawl URL`, `ingest rescrape ID`: fetch pages and sites, and follow the run."""

from typing import Annotated, Any, Literal

import typer

from api.cli import exits
from api.cli.arguments import COLLECTIONS, Joined, JsonDocument, check_id, json_object
from api.cli.client.crawl_waiter import CrawlRun, wait_for_run
from api.cli.client.http_client import Client, open_client
from api.cli.commands.crawl_report import CrawlResult, print_crawl, read_result
from api.cli.output import CommandError, out, print_json

Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until the run has ended")]


def crawl(
    url: Annotated[str, typer.Argument(help="URL to start from; https:// may be left out")],
    *,
    page: Annotated[bool, typer.Option("--page", help="Fetch this page only")] = False,
    limit: Annotated[
        int | None, typer.Option(min=1, max=100_000, help="Maximum number of pages (default: 1000)")
    ] = None,
    max_depth: Annotated[
        int | None, typer.Option(min=0, max=100, help="Maximum number of links from the start")
    ] = None,
    include: Annotated[
        list[str] | None,
        typer.Option(help="Crawl only paths that match this RE2 expression (repeatable)"),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(help="Skip paths that match this RE2 expression (repeatable)"),
    ] = None,
    provider: Annotated[
        Literal["builtin", "firecrawl"] | None, typer.Option(help="Crawler that fetches the pages")
    ] = None,
    metadata: Annotated[
        str | None, typer.Option(help="JSON object to store with the source")
    ] = None,
    collection: Joined = None,
    rescrape: Annotated[
        str | None, typer.Option(metavar="CRON", help="When to fetch it again, as in '0 3 * * *'")
    ] = None,
    timezone: Annotated[
        str | None, typer.Option(help="Time zone of --rescrape (default: UTC)")
    ] = None,
    wait: Wait = True,
    as_json: JsonDocument = False,
) -> None:
    """Crawl a web site, or fetch one page, and report the outcome.

    Exit code 1 if the run failed, was cancelled, or a page failed.
    """
    site = {
        "limit": limit,
        "maxDepth": max_depth,
        "includePaths": include or None,
        "excludePaths": exclude or None,
        "provider": provider,
    }
    body = _body(url, site=site, page=page, metadata=json_object(metadata))
    body |= _schedule(rescrape, timezone)
    check_id(collection, hint=COLLECTIONS)
    if collection is not None:
        body["collectionId"] = collection
    with open_client() as client:
        run = CrawlRun.accepted(client.post("/upload/url", body))
        _finish(client, run, wait=wait, as_json=as_json)


def rescrape(
    id: Annotated[str, typer.Argument(help="Id of a page or site; `ingest sources` lists ids")],
    *,
    accept_losses: Annotated[
        bool,
        typer.Option("--accept-losses", help="Also store pages that lost most of their text"),
    ] = False,
    wait: Wait = True,
    as_json: JsonDocument = False,
) -> None:
    """Fetch a page or site again, now.

    Exit codes as for `crawl`.
    """
    check_id(id)
    with open_client() as client:
        path = f"/api/knowledge-sources/{id}/rescrape"
        run = CrawlRun.accepted(client.post(path, {"acceptLosses": accept_losses}))
        _finish(client, run, wait=wait, as_json=as_json)


def _body(
    url: str, *, site: dict[str, Any], page: bool, metadata: dict[str, Any] | None
) -> dict[str, Any]:
    given = {name: value for name, value in site.items() if value is not None}
    if page and given:
        raise CommandError("--page cannot be combined with options for sites")
    body: dict[str, Any] = {"url": url, "crawlLinks": not page, **given}
    return body if metadata is None else {**body, "metadata": metadata}


def _schedule(cron: str | None, timezone: str | None) -> dict[str, Any]:
    if cron is None:
        if timezone is not None:
            raise CommandError("--timezone needs --rescrape")
        return {}
    return {"rescrape": {"cron": cron, "timezone": timezone or "UTC"}}


def _finish(client: Client, run: CrawlRun, *, wait: bool, as_json: bool) -> None:
    """Follow a run that was just started, if requested, and exit."""
    if wait:
        result = follow(client, run, as_json=as_json)
        raise typer.Exit(exits.FAILED if result.has_failures else 0)
    if as_json:
        print_json(run.as_json())
    else:
        out().print(f"follow it with: ingest watch {run.source_id}")


def follow(client: Client, run: CrawlRun, *, as_json: bool = False) -> CrawlResult:
    """Wait for the end of a run and report its outcome."""
    try:
        wait_for_run(client, run)
    except KeyboardInterrupt:
        raise exits.interrupted(
            f"the service continues; follow it with: ingest watch {run.source_id}"
        ) from None
    result = read_result(client, run)
    if as_json:
        print_json(result.as_json())
    else:
        print_crawl(out(), result)
    return result
