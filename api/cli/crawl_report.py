"""The outcome of a run of a page or site: its digest, and the failed pages by code."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from rich.console import Console
from rich.table import Table

from api.cli.client import Client
from api.cli.output import CommandError, count, plain

_ALL: Final = 1_000_000
_SHOWN: Final = 5
# In the order in which they are reported.
_BECAME: Final = ("new", "changed", "unchanged", "kept", "duplicate", "removed", "failed")
_UNSEEN: Final = {"not_scraped": "given up", "not_delivered": "counted but not delivered"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The fetch of a page, or the crawl of a site."""

    source_id: str
    job_id: str
    crawl_id: str

    @classmethod
    def accepted(cls, answer: Mapping[str, Any]) -> Self:
        """From the answer to a request that starts a run."""
        return cls(
            source_id=answer["knowledgeSourceId"],
            job_id=answer["jobId"],
            crawl_id=answer["crawlId"],
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "knowledgeSourceId": self.source_id,
            "jobId": self.job_id,
            "crawlId": self.crawl_id,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlResult:
    """Everything that the command reports at its end; rows as the API returns them."""

    run: Run
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


def latest_run(client: Client, source_id: str) -> Run:
    """The latest run of a page or site."""
    crawl = next(client.pages(f"/api/knowledge-sources/{source_id}/crawls", limit=1))
    return Run(source_id=source_id, job_id=crawl["jobId"], crawl_id=crawl["id"])


def read_result(client: Client, run: Run) -> CrawlResult:
    """The outcome of a run that has ended, as of now."""
    path = f"/api/knowledge-sources/{run.source_id}"
    crawls = client.pages(f"{path}/crawls", limit=_ALL)
    crawl = next((row for row in crawls if row["id"] == run.crawl_id), None)
    if crawl is None:
        raise CommandError(f"the service does not know the run {run.crawl_id} any more")

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
    """The counts, their consequences for the stored pages, and a table of failures."""
    digest = result.crawl["digest"] or {}
    console.print(plain("  ".join([result.source["uri"], result.status.replace("_", " ")])))
    for line in (*_counts(digest, result), *_remarks(digest, result)):
        console.print(plain(line))
    if result.failed:
        console.print(_table(result.failed))


def _counts(digest: Mapping[str, Any], result: CrawlResult) -> Iterator[str]:
    pages = [f"{digest[name]:,} {name}" for name in _BECAME if digest.get(name)]
    if pages:
        yield "pages: " + " · ".join(pages)
    if result.skipped_pages:
        yield "pages not kept: " + _by_reason(result.skipped_pages)
    skipped = dict(result.crawl["skipped"])
    unseen = {words: skipped.pop(name) for name, words in _UNSEEN.items() if name in skipped}
    if unseen:
        yield "pages not seen by the provider: " + _by_reason(unseen)
    if skipped:
        yield "links not followed: " + _by_reason(skipped)
    if digest:
        yield f"tokens: {digest['tokensSpent']:,} embedded · {digest['tokensSaved']:,} saved"


def _by_reason(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return " · ".join(f"{number:,} {reason}" for reason, number in ordered)


def _remarks(digest: Mapping[str, Any], result: CrawlResult) -> Iterator[str]:
    if result.status == "review_needed":
        yield (
            f"{count(digest.get('removalsHeld', 0), 'page')} would be removed: see them with"
            f" GET /api/knowledge-sources/{result.run.source_id}/pages?status=held, then"
            f" POST /api/jobs/{result.run.job_id}/approve or …/reject"
        )
    elif digest.get("overLimit"):
        limit = result.source["crawl"]["limit"]
        yield (
            f"the limit of {count(limit, 'page')} was reached, at least"
            f" {digest['overLimit']:,} more were found (--limit); none was removed"
        )
    elif result.crawl["isComplete"] is False and result.source["chunkCount"]:
        yield "not every page was seen, so none was removed"
    if digest.get("kept"):
        yield "kept: their text was gone; what was there before is still searchable"
    reason = result.source["errorMessage"]
    if result.status != "completed" and reason and not result.failed:
        yield f"{result.source['errorCode']}: {reason}"


def _table(failed: Sequence[Mapping[str, Any]]) -> Table:
    by_code: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for page in failed:
        by_code[page["errorCode"]].append(page)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("code", "pages", "addresses", "why"):
        table.add_column(name, overflow="fold", no_wrap=name in ("code", "pages"))
    for code, pages in sorted(by_code.items(), key=lambda item: (-len(item[1]), item[0])):
        for number, page in enumerate(pages[:_SHOWN]):
            head = (code, len(pages)) if number == 0 else ("", "")
            table.add_row(*map(plain, (*head, page["uri"], page["errorMessage"])))
        if len(pages) > _SHOWN:
            table.add_row("", "", f"… and {len(pages) - _SHOWN:,} more: `--json` lists all", "")
    return table
