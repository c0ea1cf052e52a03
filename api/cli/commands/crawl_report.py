"""The outcome of a run of a page or site: its digest, and the failed pages by code."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from api.cli.client.crawl_waiter import CrawlRun
from api.cli.client.http_client import Client
from api.cli.output import CommandError, count, join_parts, plain, table

_ALL: Final = 1_000_000
_PAGES_PER_CODE: Final = 5
# In the order in which they are reported.
_PAGE_OUTCOMES: Final = ("new", "changed", "unchanged", "kept", "duplicate", "removed", "failed")
_LOST_BY_PROVIDER: Final = {"not_scraped": "given up", "not_delivered": "not delivered"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlResult:
    """Everything that the command reports at its end; rows as the API returns them."""

    run: CrawlRun
    source: Mapping[str, Any]
    crawl: Mapping[str, Any]
    failed: Sequence[Mapping[str, Any]]
    """Pages."""
    skipped_pages: Mapping[str, int]
    """Pages that were found and not kept, by reason."""

    @property
    def status(self) -> str:
        """The status of this run, even if a newer one has replaced it."""
        return "cancelled" if self.crawl["status"] == "cancelled" else self.source["status"]

    @property
    def has_failures(self) -> bool:
        return self.status in ("failed", "cancelled", "partial")

    def as_json(self) -> dict[str, Any]:
        pages = ("uri", "httpStatus", "errorCode", "errorMessage")
        return {
            **self.run.as_json(),
            "uri": self.source["uri"],
            "status": self.status,
            "errorCode": self.source["errorCode"],
            "errorMessage": self.source["errorMessage"],
            "chunkCount": self.source["chunkCount"],
            "isComplete": self.crawl["isComplete"],
            "digest": self.crawl["digest"],
            "skippedLinks": self.crawl["skipped"],
            "skippedPages": dict(self.skipped_pages),
            "failedPages": [{name: page[name] for name in pages} for page in self.failed],
        }


def read_result(client: Client, run: CrawlRun) -> CrawlResult:
    """Fetch the current outcome of a run that has ended."""
    path = f"/api/knowledge-sources/{run.source_id}"
    crawls = client.pages(f"{path}/crawls", limit=_ALL)
    crawl = next((row for row in crawls if row["id"] == run.crawl_id), None)
    if crawl is None:
        raise CommandError(f"the run {run.crawl_id} no longer exists")

    def pages(status: str) -> Iterator[dict[str, Any]]:
        return client.pages(f"{path}/pages", limit=_ALL, crawlId=run.crawl_id, status=status)

    return CrawlResult(
        run=run,
        source=client.get(path),
        crawl=crawl,
        failed=list(pages("failed")),
        skipped_pages=Counter(page["errorCode"] for page in pages("skipped")),
    )


def print_crawl(console: Console, result: CrawlResult) -> None:
    """Print the counts, their consequences for the stored pages, and a table of failures."""
    digest = result.crawl["digest"] or {}
    console.print(plain(f"{result.source['uri']}  {result.status.replace('_', ' ')}"))
    for line in (*_counts(digest, result), *_remarks(digest, result)):
        console.print(plain(line))
    if result.failed:
        console.print(_failures(result.failed))


def _counts(digest: Mapping[str, Any], result: CrawlResult) -> Iterator[str]:
    pages = [f"{digest[name]:,} {name}" for name in _PAGE_OUTCOMES if digest.get(name)]
    if pages:
        yield "pages: " + join_parts(*pages)
    if result.skipped_pages:
        yield "pages skipped: " + _by_reason(result.skipped_pages)
    skipped = dict(result.crawl["skipped"])
    lost = {text: skipped.pop(name) for name, text in _LOST_BY_PROVIDER.items() if name in skipped}
    if lost:
        yield "pages lost by the provider: " + _by_reason(lost)
    if skipped:
        yield "links not followed: " + _by_reason(skipped)
    if digest.get("furniture"):
        yield f"left out of the pages: {count(digest['furniture'], 'repeated block')}"
    if digest:
        yield f"tokens: {digest['tokensSpent']:,} embedded · {digest['tokensSaved']:,} saved"


def _by_reason(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return join_parts(*(f"{number:,} {reason}" for reason, number in ordered))


def _remarks(digest: Mapping[str, Any], result: CrawlResult) -> Iterator[str]:
    if result.status == "review_needed":
        job_id = result.run.job_id
        yield (
            f"removing {count(digest.get('removalsHeld', 0), 'page')} needs approval: list them"
            f" with GET /api/knowledge-sources/{result.run.source_id}/pages?status=held, then run"
            f" `ingest job approve {job_id}` or `ingest job reject {job_id}`"
        )
    elif digest.get("overLimit"):
        limit = result.source["crawl"]["limit"]
        yield (
            f"the limit of {count(limit, 'page')} was reached, and at least"
            f" {digest['overLimit']:,} more were found (--limit); no page was removed"
        )
    elif result.crawl["isComplete"] is False and result.source["chunkCount"]:
        yield "the run did not see every page, so it removed none"
    if digest.get("kept"):
        yield "kept: most of the text was gone, so the previous version stays searchable"
    reason = result.source["errorMessage"]
    if result.status != "completed" and reason and not result.failed:
        yield f"{result.source['errorCode']}: {reason}"


def _failures(failed: Sequence[Mapping[str, Any]]) -> Table:
    by_code: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for page in failed:
        by_code[page["errorCode"]].append(page)
    rows = table(("code", "pages", "URL", "reason"), no_wrap=("code", "pages"))
    for code, pages in sorted(by_code.items(), key=lambda item: (-len(item[1]), item[0])):
        for number, page in enumerate(pages[:_PAGES_PER_CODE]):
            head = (code, len(pages)) if number == 0 else ("", "")
            rows.add_row(*map(plain, (*head, page["uri"], page["errorMessage"])))
        if len(pages) > _PAGES_PER_CODE:
            rows.add_row(
                "", "", f"… and {len(pages) - _PAGES_PER_CODE:,} more (all with --json)", ""
            )
    return rows
