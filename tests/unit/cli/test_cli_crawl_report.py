"""After a crawl: what the command tells of it."""

from typing import Any

import pytest
from rich.console import Console

from api.cli.commands.crawl_report import CrawlResult, print_crawl
from tests.support.cli_crawl_service import DIGEST, JOB, RUN, SITE, FakeCrawls, page


def report(
    capsys: pytest.CaptureFixture[str],
    *,
    failed: list[dict[str, Any]] | None = None,
    digest: dict[str, Any] | None = None,
    **fields: Any,
) -> str:
    fake = FakeCrawls()
    fake.status = fields.pop("status", "completed")
    result = CrawlResult(
        run=RUN,
        source=fake.source(),
        crawl={**fake.crawl, "digest": {**DIGEST, **(digest or {})}, **fields},
        failed=failed or [],
        skipped_pages={"robots_disallowed": 2},
    )
    print_crawl(Console(width=200), result)
    return capsys.readouterr().out


def test_digest_omits_zero_counts(capsys: pytest.CaptureFixture[str]) -> None:
    told = report(capsys, skipped={"trap": 1, "off_site": 30})

    assert told.splitlines() == [
        f"{SITE}  completed",
        "pages: 61 new · 2 unchanged · 1 duplicate",
        "pages skipped: 2 robots_disallowed",
        "links not followed: 30 off_site · 1 trap",
        "tokens: 12,345 embedded · 7 saved",
    ]


def test_failed_pages_are_grouped_by_code_with_the_first_addresses(
    capsys: pytest.CaptureFixture[str],
) -> None:
    many = [page("fetch_status", number=number) for number in range(8)]

    told = report(capsys, failed=[page("too_large"), *many], status="partial")

    lines = [line.split() for line in told.splitlines()]
    assert ["fetch_status", "8", f"{SITE}fetch_status/0"] in [line[:3] for line in lines]
    assert "… and 3 more" in told
    assert told.count("fetch_status/") == 5
    assert told.index("fetch_status") < told.index("too_large")


def test_a_run_that_did_not_see_every_page_says_that_none_was_removed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "the run did not see every page, so it removed none" in report(capsys, isComplete=False)
    assert "did not see every page" not in report(capsys)


def test_pending_removals_name_the_review_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = report(capsys, status="review_needed", digest={"removalsHeld": 40})

    assert "removing 40 pages needs approval" in told
    assert "/pages?status=held" in told
    assert f"ingest job approve {JOB}" in told


def test_pages_that_kept_their_old_text_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert "the previous version stays searchable" in report(capsys, digest={"kept": 1})
