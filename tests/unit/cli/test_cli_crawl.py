"""Crawling from the command line: what is asked for, and how the commands end."""

import json
from collections.abc import Iterator

import pytest
from typer.testing import CliRunner, Result

from api.cli.main import app
from tests.support.cli_crawl_service import (
    CRAWL,
    JOB,
    SITE,
    SOURCE,
    FakeCrawls,
    page,
    served,
)

run = CliRunner()


@pytest.fixture
def crawls(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCrawls]:
    """Served where the commands look for the service."""
    fake = FakeCrawls()
    with served(fake) as url:
        monkeypatch.setenv("INGEST_URL", url)
        monkeypatch.setenv("INGEST_API_KEY", "key")
        yield fake


def ingest(*arguments: str) -> Result:
    return run.invoke(app, arguments)


def test_crawl_command_crawls_a_site_unless_page_is_given(crawls: FakeCrawls) -> None:
    ingest("crawl", "site.example", "--no-wait")
    ingest("crawl", "site.example", "--page", "--no-wait")

    assert crawls.bodies == [
        {"url": "site.example", "crawlLinks": True},
        {"url": "site.example", "crawlLinks": False},
    ]


def test_every_option_reaches_the_service(crawls: FakeCrawls) -> None:
    options = "--limit 7 --max-depth 0 --include ^/a --include ^/b --exclude x --provider builtin"

    ingest(
        *("crawl", SITE, *options.split(), "--metadata", '{"team":"a"}'),
        *("--rescrape", "0 3 * * 1", "--timezone", "Europe/Berlin", "--no-wait"),
    )

    assert crawls.bodies == [
        {
            "url": SITE,
            "crawlLinks": True,
            "limit": 7,
            "maxDepth": 0,
            "provider": "builtin",
            "includePaths": ["^/a", "^/b"],
            "excludePaths": ["x"],
            "metadata": {"team": "a"},
            "rescrape": {"cron": "0 3 * * 1", "timezone": "Europe/Berlin"},
        }
    ]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--page", "--limit", "7"], "--page cannot be combined"),
        (["--page", "--exclude", "x"], "--page cannot be combined"),
        (["--timezone", "Europe/Berlin"], "--timezone needs --rescrape"),
        (["--metadata", "[]"], "--metadata is not a JSON object"),
    ],
)
def test_contradictory_options_are_reported_before_any_request(
    crawls: FakeCrawls, options: list[str], told: str
) -> None:
    result = ingest("crawl", SITE, *options)

    assert result.exit_code == 2
    assert told in result.stderr
    assert crawls.bodies == []


def test_a_source_is_fetched_again_by_its_id(crawls: FakeCrawls) -> None:
    result = ingest("rescrape", SOURCE, "--accept-losses")

    assert crawls.bodies == [{"acceptLosses": True}]
    assert f"{SITE}  completed" in result.stdout


@pytest.mark.parametrize(
    ("status", "exit_code"),
    [("completed", 0), ("review_needed", 0), ("partial", 1), ("failed", 1), ("cancelled", 1)],
)
def test_the_exit_code_says_whether_anything_failed(
    crawls: FakeCrawls, status: str, exit_code: int
) -> None:
    crawls.status = status

    assert ingest("crawl", SITE).exit_code == exit_code


def test_superseded_run_counts_as_cancelled(
    crawls: FakeCrawls,
) -> None:
    crawls.newer = [{**crawls.crawl, "id": "crawl-2"}]
    crawls.crawl |= {"status": "cancelled", "digest": None, "isComplete": False}

    result = ingest("crawl", SITE)

    assert result.exit_code == 1
    assert f"{SITE}  cancelled" in result.stdout


def test_json_is_one_object_with_every_failed_page(crawls: FakeCrawls) -> None:
    crawls.status = "partial"
    crawls.crawl["skipped"] = {"off_site": 3}
    crawls.pages = {
        "failed": [page("fetch_status", number=number) for number in range(9)],
        "skipped": [page("robots_disallowed"), page("robots_disallowed")],
    }

    result = ingest("crawl", SITE, "--json")

    [told] = [json.loads(line) for line in result.stdout.splitlines()]
    assert told["status"] == "partial"
    assert told["crawlId"] == CRAWL
    assert told["digest"]["new"] == 61
    assert len(told["failedPages"]) == 9
    assert told["skippedPages"] == {"robots_disallowed": 2}
    assert told["skippedLinks"] == {"off_site": 3}


def test_no_wait_prints_how_to_follow_later(crawls: FakeCrawls) -> None:
    text = ingest("crawl", SITE, "--no-wait")
    [told] = ingest("crawl", SITE, "--no-wait", "--json").stdout.splitlines()

    assert text.stdout == f"follow it with: ingest watch {SOURCE}\n"
    assert json.loads(told) == {"knowledgeSourceId": SOURCE, "jobId": JOB, "crawlId": CRAWL}


def test_watching_a_site_shows_what_its_crawl_would_have_shown(crawls: FakeCrawls) -> None:
    assert ingest("watch", SOURCE).stdout == ingest("crawl", SITE).stdout


def test_sources_are_listed_with_their_name_and_when_they_are_fetched_next(
    crawls: FakeCrawls,
) -> None:
    result = ingest("sources", "--type", "site")

    head, line = result.stdout.splitlines()
    assert head.split() == ["id", "type", "status", "chunks", "next", "fetch", "path", "or", "URL"]
    assert f"Our site  {SITE}" in line
    assert "2026-11-29 " in line or "2026-11-28 " in line  # the zone is that of this machine


def test_interrupted_wait_does_not_stop_the_crawl(
    crawls: FakeCrawls, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("api.cli.commands.crawl.wait_for_run", interrupt)

    result = ingest("crawl", SITE)

    assert result.exit_code == 130
    assert f"the service continues; follow it with: ingest watch {SOURCE}" in result.stderr
    assert len(crawls.bodies) == 1
