"""`ingest crawl URL`, `ingest rescrape ID`: fetch pages and sites, and follow the run."""

from typing import Annotated, Any, Literal

import typer

from api.cli.client import Client, open_client
from api.cli.common import check_id, interrupted, json_object
from api.cli.crawl_report import CrawlResult, Run, print_crawl, read_result
from api.cli.crawl_wait import wait_for
from api.cli.output import CommandError, out, print_json

Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Until the run has ended")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object")]


def crawl(
    url: Annotated[str, typer.Argument(help="Where to begin; https unless it says otherwise")],
    *,
    page: Annotated[bool, typer.Option("--page", help="This page only")] = False,
    limit: Annotated[
        int | None, typer.Option(min=1, max=100_000, help="Pages at most [default: 1000]")
    ] = None,
    max_depth: Annotated[
        int | None, typer.Option(min=0, max=100, help="Links from the start at most")
    ] = None,
    include: Annotated[
        list[str] | None,
        typer.Option(help="RE2 expression: only paths in which it is found; may be repeated"),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(help="RE2 expression: no path in which it is found; may be repeated"),
    ] = None,
    provider: Annotated[
        Literal["builtin", "firecrawl"] | None, typer.Option(help="Who fetches the pages")
    ] = None,
    metadata: Annotated[
        str | None, typer.Option(help="A JSON object to keep with the source")
    ] = None,
    rescrape: Annotated[
        str | None, typer.Option(metavar="CRON", help="When to fetch it again, such as '0 3 * * *'")
    ] = None,
    timezone: Annotated[str | None, typer.Option(help="Of --rescrape [default: UTC]")] = None,
    wait: Wait = True,
    as_json: Json = False,
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
    with open_client() as client:
        run = Run.accepted(client.post("/upload/url", body))
        _run(client, run, wait=wait, as_json=as_json)


def rescrape(
    id: Annotated[str, typer.Argument(help="Of a page or site; `ingest sources` shows it")],
    *,
    accept_losses: Annotated[
        bool, typer.Option("--accept-losses", help="Even where most of a page's text is gone")
    ] = False,
    wait: Wait = True,
    as_json: Json = False,
) -> None:
    """Fetch a page or site again, now.

    Exit codes as for `crawl`.
    """
    check_id(id)
    with open_client() as client:
        path = f"/api/knowledge-sources/{id}/rescrape"
        run = Run.accepted(client.post(path, {"acceptLosses": accept_losses}))
        _run(client, run, wait=wait, as_json=as_json)


def _body(
    url: str, *, site: dict[str, Any], page: bool, metadata: dict[str, Any] | None
) -> dict[str, Any]:
    given = {name: value for name, value in site.items() if value is not None}
    if page and given:
        raise CommandError("--page fetches one page: leave out what is for sites only")
    body: dict[str, Any] = {"url": url, "crawlLinks": not page, **given}
    return body if metadata is None else {**body, "metadata": metadata}


def _schedule(cron: str | None, timezone: str | None) -> dict[str, Any]:
    if cron is None:
        if timezone is not None:
            raise CommandError("--timezone is that of --rescrape")
        return {}
    return {"rescrape": {"cron": cron, "timezone": timezone or "UTC"}}


def _run(client: Client, run: Run, *, wait: bool, as_json: bool) -> None:
    """Follow a run that was just started, if requested, and exit."""
    if wait:
        result = follow(client, run, as_json=as_json)
        raise typer.Exit(1 if result.has_failures else 0)
    if as_json:
        print_json(run.as_json())
    else:
        out().print(f"watch it with: {_watching(run)}")


def follow(client: Client, run: Run, *, as_json: bool = False) -> CrawlResult:
    """Wait for the end of a run and report its outcome."""
    try:
        wait_for(client, run)
    except KeyboardInterrupt:
        raise interrupted(f"the service goes on with it; watch it with: {_watching(run)}") from None
    result = read_result(client, run)
    if as_json:
        print_json(result.as_json())
    else:
        print_crawl(out(), result)
    return result


def _watching(run: Run) -> str:
    return f"ingest watch {run.source_id}"
