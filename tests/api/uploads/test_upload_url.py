"""Pages and sites added by their address."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

import httpx
import pytest
from pydantic import SecretStr

from ingest.postgres.database import Connection
from ingest.runtime import Runtime
from ingest.store.crawl.runs import StartedRun
from tests.api.conftest import MakeKey, connect, serve
from tests.api.helpers import count
from tests.support.crawl.crawl_sources import crawl_row, end
from tests.support.queue_builders import job_row, source_row

PAGE = "https://site.example/a"

# Body, field, and code where it is ours or says more.
WRONG: Final[Sequence[tuple[dict[str, Any], str, str | None]]] = (
    ({}, "body.url", "missing"),
    ({"url": ""}, "body.url", "too_short"),
    ({"url": "ftp://site.example/"}, "body.url", "value_error"),
    ({"url": "https://me:pw@site.example/"}, "body.url", "value_error"),
    ({"url": "https://site.example/" + "a" * 3000}, "body.url", "value_error"),
    ({"url": "http://127.0.0.1/"}, "body.url", "fetch_blocked"),
    ({"url": "http://169.254.169.254/latest"}, "body.url", "fetch_blocked"),
    ({"url": PAGE, "crawlLinks": True, "limit": 0}, "body.limit", "greater_than_equal"),
    ({"url": PAGE, "crawlLinks": True, "limit": 100_001}, "body.limit", "less_than_equal"),
    ({"url": PAGE, "crawlLinks": True, "maxDepth": -1}, "body.maxDepth", "greater_than_equal"),
    ({"url": PAGE, "crawlLinks": True, "maxDepth": 101}, "body.maxDepth", "less_than_equal"),
    ({"url": PAGE, "crawlLinks": True, "includePaths": ["("]}, "body.includePaths", None),
    ({"url": PAGE, "crawlLinks": True, "excludePaths": ["(?!x)"]}, "body.excludePaths", None),
    ({"url": PAGE, "crawlLinks": True, "includePaths": ["a"] * 51}, "body.includePaths", None),
    (
        {"url": PAGE, "crawlLinks": True, "includePaths": ["a" * 501]},
        "body.includePaths.0",
        "too_long",
    ),
    (
        {"url": PAGE, "crawlLinks": True, "provider": "firecrawl"},
        "body.provider",
        "provider_not_configured",
    ),
    ({"url": PAGE, "crawlLinks": True, "provider": "curl"}, "body.provider", "literal_error"),
    ({"url": PAGE, "limit": 10}, "body.limit", "value_error"),
    ({"url": PAGE, "maxDepth": 0}, "body.maxDepth", "value_error"),
    ({"url": PAGE, "includePaths": ["a"]}, "body.includePaths", "value_error"),
    ({"url": PAGE, "excludePaths": ["a"]}, "body.excludePaths", "value_error"),
    ({"url": PAGE, "provider": "builtin"}, "body.provider", "value_error"),
    ({"url": PAGE, "crawl_links": True}, "body.crawl_links", "extra_forbidden"),
    ({"url": PAGE, "rescrape": {"cron": "nightly"}}, "body.rescrape.cron", "value_error"),
    ({"url": PAGE, "rescrape": {"cron": "0 0 30 2 *"}}, "body.rescrape.cron", "value_error"),
    (
        {"url": PAGE, "rescrape": {"cron": "0 4 * * *", "timezone": "Mars/Base"}},
        "body.rescrape.timezone",
        "value_error",
    ),
    ({"url": PAGE, "metadata": [1]}, "body.metadata", None),
)


@pytest.fixture
async def with_firecrawl(
    runtime: Runtime, application_id: UUID, make_key: MakeKey
) -> AsyncIterator[httpx.AsyncClient]:
    """An editor where Firecrawl is configured."""
    settings = runtime.settings.model_copy(update={"firecrawl_api_key": SecretStr("fc-key")})
    key = await make_key(application_id, "editor")
    async with serve(replace(runtime, settings=settings)) as app, connect(app, key) as client:
        yield client


async def add(client: httpx.AsyncClient, **body: Any) -> dict[str, str]:
    answer = await client.post("/upload/url", json=body)
    assert answer.status_code == 202, answer.text
    found: dict[str, str] = answer.json()
    return found


def run_of(answer: Mapping[str, str]) -> StartedRun:
    return StartedRun(
        source_id=UUID(answer["knowledgeSourceId"]),
        job_id=UUID(answer["jobId"]),
        crawl_id=UUID(answer["crawlId"]),
    )


async def test_a_page_becomes_a_source_with_a_job(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    answer = await add(editor, url="Site.example/a/?utm_source=x#b", metadata={"team": "docs"})

    run = run_of(answer)
    assert answer.keys() == {"knowledgeSourceId", "jobId", "crawlId"}
    source = await source_row(conn, run.source_id)
    assert (source["type"], source["uri"], source["name"]) == ("url", PAGE, "site.example/a")
    assert (source["status"], source["metadata"]) == ("pending", {"team": "docs"})
    assert (await job_row(conn, run.job_id))["type"] == "url"
    assert (await crawl_row(conn, run.crawl_id))["job_id"] == run.job_id


async def test_crawl_limits_come_from_the_request(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    answer = await add(
        editor,
        url="https://site.example",
        crawlLinks=True,
        limit=50,
        maxDepth=3,
        includePaths=["^/docs/"],
        excludePaths=[r"\.pdf$"],
    )

    run = run_of(answer)
    assert (await job_row(conn, run.job_id))["type"] == "site_crawl"
    assert (await source_row(conn, run.source_id))["type"] == "site"
    assert (await crawl_row(conn, run.crawl_id))["settings"] == {
        "start": "https://site.example/",
        "limit": 50,
        "max_depth": 3,
        "include_paths": ["^/docs/"],
        "exclude_paths": [r"\.pdf$"],
        "variants": 100,
        "provider": "builtin",
        "accept_losses": False,
    }


async def test_crawl_has_a_default_page_limit(editor: httpx.AsyncClient, conn: Connection) -> None:
    run = run_of(await add(editor, url=PAGE, crawlLinks=True))

    settings = (await crawl_row(conn, run.crawl_id))["settings"]
    assert (settings["limit"], settings["max_depth"]) == (1000, None)


async def test_firecrawl_is_the_default_when_configured(
    with_firecrawl: httpx.AsyncClient, conn: Connection
) -> None:
    theirs = run_of(await add(with_firecrawl, url=PAGE, crawlLinks=True))
    ours = run_of(
        await add(with_firecrawl, url="other.example", crawlLinks=True, provider="builtin")
    )
    page = run_of(await add(with_firecrawl, url=PAGE))

    providers = [(await crawl_row(conn, run.crawl_id))["provider"] for run in (theirs, ours, page)]
    assert providers == ["firecrawl", "builtin", "builtin"]


async def test_invalid_request_names_the_field_and_stores_nothing(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    answers = [await editor.post("/upload/url", json=body) for body, _, _ in WRONG]

    errors = [answer.json()["errors"][0] for answer in answers]
    assert {answer.status_code for answer in answers} == {422}
    assert [error["field"] for error in errors] == [field for _, field, _ in WRONG]
    assert [error["code"] for error in errors] == [
        code or error["code"] for (_, _, code), error in zip(WRONG, errors, strict=True)
    ]
    assert await count(conn, "rag.knowledge_sources") == 0


async def test_a_blocked_address_is_a_code_that_programs_can_tell(
    editor: httpx.AsyncClient,
) -> None:
    answer = await editor.post("/upload/url", json={"url": "http://10.0.0.1/"})

    assert answer.json()["code"] == "fetch_blocked"


async def test_the_same_address_is_the_same_source(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    first = run_of(await add(editor, url=PAGE))
    joined = run_of(await add(editor, url=PAGE + "/?utm_campaign=x"))
    await end(conn, first)
    again = run_of(await add(editor, url=PAGE))

    assert (joined.source_id, joined.job_id) == (first.source_id, first.job_id)
    assert again.source_id == first.source_id
    assert again.job_id != first.job_id
    assert await count(conn, "rag.knowledge_sources") == 1


async def test_same_idempotency_key_starts_one_run(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    headers = {"Idempotency-Key": "k"}
    first = await editor.post("/upload/url", json={"url": PAGE}, headers=headers)
    await end(conn, run_of(first.json()))
    again = await editor.post("/upload/url", json={"url": PAGE}, headers=headers)
    other = await editor.post("/upload/url", json={"url": PAGE + "b"}, headers=headers)

    assert (again.status_code, again.json()) == (202, first.json())
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_conflict")
    assert await count(conn, "rag.processing_jobs") == 1


async def test_schedule_of_url_request_is_kept_until_changed(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    schedule = {"cron": "30 4 * * 1", "timezone": "Europe/Berlin"}
    run = run_of(await add(editor, url=PAGE, rescrape=schedule))
    path = f"/api/knowledge-sources/{run.source_id}"
    first = (await editor.get(path)).json()
    await add(editor, url=PAGE)
    kept = (await editor.get(path)).json()
    await add(editor, url=PAGE, rescrape=None)
    reset = (await editor.get(path)).json()

    assert first["rescrape"] == kept["rescrape"] == schedule
    assert first["nextRescrapeAt"].endswith("Z")
    assert (reset["rescrape"], reset["nextRescrapeAt"]) == (None, None)


async def test_same_url_is_a_separate_source_per_application(
    editor: httpx.AsyncClient, stranger: httpx.AsyncClient
) -> None:
    ours = run_of(await add(editor, url=PAGE))
    theirs = run_of(await add(stranger, url=PAGE))

    assert ours.source_id != theirs.source_id


# ---------------------------------------------------------------- GET, as far as it does not stream


async def test_a_site_named_in_the_query_is_answered_as_a_posted_one(
    editor: httpx.AsyncClient, conn: Connection
) -> None:
    answer = await editor.get(
        "/upload/url",
        params={"url": PAGE, "crawlLinks": "true", "limit": 7, "includePaths": ["/a", "/b"]},
    )

    assert answer.status_code == 202
    settings = (await crawl_row(conn, run_of(answer.json()).crawl_id))["settings"]
    assert (settings["limit"], settings["include_paths"]) == (7, ["/a", "/b"])


async def test_a_wrong_query_starts_nothing(editor: httpx.AsyncClient, conn: Connection) -> None:
    wrong: dict[str, dict[str, str]] = {
        "query.url": {},
        "query.crawllinks": {"url": PAGE, "crawllinks": "true"},
        "query.limit": {"url": PAGE, "limit": "7"},
        "query.maxDepth": {"url": PAGE, "crawlLinks": "true", "maxDepth": "x"},
    }
    answers = [await editor.get("/upload/url", params=params) for params in wrong.values()]
    blocked = await editor.get("/upload/url", params={"url": "http://localhost/"})

    assert {answer.status_code for answer in answers} == {422}
    assert [answer.json()["errors"][0]["field"] for answer in answers] == list(wrong)
    assert (blocked.status_code, blocked.json()["code"]) == (422, "fetch_blocked")
    assert await count(conn, "rag.knowledge_sources") == 0
