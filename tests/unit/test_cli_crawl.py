"""Crawling from the command line: what is asked for, what is shown, how it ends."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from api.cli.client import Client, Target, Unreachable
from api.cli.crawl_report import CrawlResult, Run, print_crawl
from api.cli.crawl_wait import begin_in_words, pages_in_words, wait_for
from api.cli.main import app

SOURCE = "0191c3a0-0000-7000-8000-000000000001"
JOB, CRAWL = "job-1", "crawl-1"
RUN = Run(source_id=SOURCE, job_id=JOB, crawl_id=CRAWL)
SITE = "https://site.example/"
DIGEST = {
    "new": 61,
    "changed": 0,
    "unchanged": 2,
    "kept": 0,
    "duplicate": 1,
    "removed": 0,
    "failed": 0,
    "removalsHeld": 0,
    "tokensSpent": 12345,
    "tokensSaved": 7,
}

run = CliRunner()


class FakeCrawls:
    """A service with one source, whose run has ended; `bodies` are those of the requests."""

    def __init__(self) -> None:
        self.bodies: list[Any] = []
        self.status = "completed"
        self.crawl: dict[str, Any] = {
            "id": CRAWL,
            "jobId": JOB,
            "status": "completed",
            "isComplete": True,
            "digest": DIGEST,
            "skipped": {},
        }
        self.newer: list[dict[str, Any]] = []
        """Runs that were started after it."""
        self.pages: dict[str, list[dict[str, Any]]] = {"failed": [], "skipped": []}

    def answer(self, path: str, query: str, body: Any) -> tuple[int, Any]:
        source = f"/api/knowledge-sources/{SOURCE}"
        if body is not None:
            self.bodies.append(body)
            return 202, {"knowledgeSourceId": SOURCE, "jobId": JOB, "crawlId": CRAWL}
        if path == f"/api/knowledge-source/{SOURCE}/progress":
            return 200, counts(self.status)
        if path == f"{source}/crawls":
            return 200, {"items": [*self.newer, self.crawl], "nextCursor": None}
        if path == f"{source}/pages":
            assert f"crawlId={CRAWL}" in query
            kind = query.rpartition("status=")[2]
            return 200, {"items": self.pages[kind], "nextCursor": None}
        if path == source:
            return 200, self.source()
        if path == "/api/knowledge-sources":
            return 200, {"items": [self.source()], "nextCursor": None}
        raise AssertionError(path)

    def source(self) -> dict[str, Any]:
        return {
            "id": SOURCE,
            "type": "site",
            "uri": SITE,
            "name": "Our site",
            "chunkCount": 99,
            "status": self.status,
            "errorCode": None,
            "errorMessage": None,
            "nextRescrapeAt": "2026-11-29T02:15:09Z",
        }


def counts(status: str, *, total: int = 1, completed: int = 0, failed: int = 0) -> dict[str, Any]:
    return {
        "status": status,
        "total": total,
        "completed": completed,
        "failed": failed,
        "percent": None,
    }


def job(status: str, *, wait: str | None = None, error: str | None = None) -> dict[str, Any]:
    return {"status": status, "waitReason": wait, "lastErrorMessage": error}


def page(code: str, *, number: int = 0) -> dict[str, Any]:
    return {
        "uri": f"{SITE}{code}/{number}",
        "httpStatus": 404,
        "errorCode": code,
        "errorMessage": "the server answered 404",
    }


@pytest.fixture
def crawls(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCrawls]:
    """Served over HTTP, where the commands look for the service."""
    fake = FakeCrawls()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(None)

        def do_POST(self) -> None:
            self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _answer(self, body: Any) -> None:
            url = urlsplit(self.path)
            status, content = fake.answer(url.path, url.query, body)
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        monkeypatch.setenv("INGEST_URL", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("INGEST_API_KEY", "key")
        yield fake
        server.shutdown()
        thread.join()


def ingest(*arguments: str) -> Result:
    return run.invoke(app, arguments)


# ---------------------------------------------------------------- what is asked for


def test_a_site_is_crawled_unless_only_the_page_is_wanted(crawls: FakeCrawls) -> None:
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
        (["--page", "--limit", "7"], "--page fetches one page"),
        (["--page", "--exclude", "x"], "--page fetches one page"),
        (["--timezone", "Europe/Berlin"], "--timezone is that of --rescrape"),
        (["--metadata", "[]"], "--metadata is not a JSON object"),
    ],
)
def test_what_cannot_be_meant_is_told_before_anything_is_asked_for(
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


# ---------------------------------------------------------------- how it ends


@pytest.mark.parametrize(
    ("status", "exit_code"),
    [("completed", 0), ("review_needed", 0), ("partial", 1), ("failed", 1), ("cancelled", 1)],
)
def test_the_exit_code_says_whether_anything_failed(
    crawls: FakeCrawls, status: str, exit_code: int
) -> None:
    crawls.status = status

    assert ingest("crawl", SITE).exit_code == exit_code


def test_a_run_that_was_replaced_was_cancelled_whatever_became_of_the_newer_one(
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


def test_who_does_not_wait_is_told_how_to_look_later(crawls: FakeCrawls) -> None:
    text = ingest("crawl", SITE, "--no-wait")
    [told] = ingest("crawl", SITE, "--no-wait", "--json").stdout.splitlines()

    assert text.stdout == f"watch it with: ingest watch {SOURCE}\n"
    assert json.loads(told) == {"knowledgeSourceId": SOURCE, "jobId": JOB, "crawlId": CRAWL}


def test_watching_a_site_shows_what_its_crawl_would_have_shown(crawls: FakeCrawls) -> None:
    assert ingest("watch", SOURCE).stdout == ingest("crawl", SITE).stdout


def test_sources_are_listed_with_their_name_and_when_they_are_fetched_next(
    crawls: FakeCrawls,
) -> None:
    result = ingest("sources", "--type", "site")

    head, line = result.stdout.splitlines()
    assert head.split() == ["id", "type", "state", "chunks", "next", "fetch", "path", "or", "URL"]
    assert f"Our site  {SITE}" in line
    assert "2026-11-29 " in line or "2026-11-28 " in line  # the zone is that of this machine


# ---------------------------------------------------------------- while it runs


def client(answers: list[httpx.Response | Exception]) -> Client:
    def answer(_: httpx.Request) -> httpx.Response:
        next_one = answers.pop(0)
        if isinstance(next_one, Exception):
            raise next_one
        return next_one

    target = Target(url="http://ingest.test", key="key", key_from="the test")
    return Client(target, transport=httpx.MockTransport(answer))


def ok(content: Any) -> httpx.Response:
    return httpx.Response(200, json=content)


def test_it_is_waited_until_the_source_is_done_over_a_restart_of_the_service() -> None:
    answers: list[httpx.Response | Exception] = [
        ok(counts("pending")),
        ok(job("pending")),
        httpx.ConnectError("refused"),
        httpx.Response(503),
        httpx.Response(429),
        ok(counts("processing", total=9, completed=2)),
        ok(counts("partial", total=9, completed=8, failed=1)),
    ]
    naps: list[float] = []

    with client(answers) as service:
        wait_for(service, RUN, sleep=naps.append)

    assert answers == []
    assert len(naps) == 5


def test_without_a_terminal_there_is_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str],
) -> None:
    totals = [min(number, 41) for number in range(2, 82)]
    running = [ok(counts("processing", total=total, completed=1, failed=1)) for total in totals]

    with client([*running, ok(counts("completed"))]) as service:
        wait_for(service, RUN, sleep=lambda _: None)

    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.splitlines() == [
        f"{pages} pages found · 1 done · 1 failed" for pages in (20, 40)
    ]


def test_an_interrupted_wait_leaves_the_crawl_alone_and_says_how_to_look_again(
    crawls: FakeCrawls, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("api.cli.crawl.wait_for", interrupt)

    result = ingest("crawl", SITE)

    assert result.exit_code == 130
    assert f"the service goes on with it; watch it with: ingest watch {SOURCE}" in result.stderr
    assert len(crawls.bodies) == 1


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        (counts("pending"), ""),
        (counts("processing", total=2), "1 page found · 0 done"),
        (counts("processing", total=1201, completed=9), "1,200 pages found · 9 done"),
    ],
)
def test_the_root_job_is_no_page(numbers: dict[str, Any], words: str) -> None:
    assert pages_in_words(numbers) == words


@pytest.mark.parametrize(
    ("job", "words"),
    [
        (job("pending"), "pending"),
        (job("pending", wait="robots_unavailable"), "waiting: robots_unavailable"),
        (job("pending", error="the server answered 503"), "waiting: the server answered 503"),
        (job("processing", error="the server answered 503"), "processing"),
    ],
)
def test_before_there_are_pages_it_says_what_it_waits_for(job: dict[str, Any], words: str) -> None:
    assert begin_in_words(job) == words


# ---------------------------------------------------------------- what is told


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


def test_the_digest_is_told_without_what_did_not_happen(capsys: pytest.CaptureFixture[str]) -> None:
    told = report(capsys, skipped={"trap": 1, "off_site": 30})

    assert told.splitlines() == [
        f"{SITE}  completed",
        "pages: 61 new · 2 unchanged · 1 duplicate",
        "pages not kept: 2 robots_disallowed",
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
    assert "not every page was seen, so none was removed" in report(capsys, isComplete=False)
    assert "not every page was seen" not in report(capsys)


def test_removals_that_wait_for_a_word_say_where_to_give_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = report(capsys, status="review_needed", digest={"removalsHeld": 40})

    assert "40 pages would be removed" in told
    assert "/pages?status=held" in told
    assert f"POST /api/jobs/{JOB}/approve" in told


def test_pages_that_kept_their_old_text_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert "what was there before is still searchable" in report(capsys, digest={"kept": 1})


def test_a_service_that_stays_away_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.cli.waiting._PATIENCE_SECONDS", 0)
    refused: list[httpx.Response | Exception] = [httpx.ConnectError("no") for _ in range(99)]

    with client(refused) as service, pytest.raises(Unreachable, match="nothing answers"):
        wait_for(service, RUN, sleep=lambda _: None)
