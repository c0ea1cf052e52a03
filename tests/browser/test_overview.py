"""Overview; settings and health: what holds work up is said, with the button that ends it."""

import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

import psycopg
import pytest
from playwright.sync_api import Locator, Page, expect

from harness.service import Service
from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import OpenBrowser, sign_in

OVERVIEW: Final = "#/overview"
SETTINGS_SCREEN: Final = "#/settings"
# No worker: what the tests put into the queue stays as it is.
SECRET: Final = "c4n4ry-n07-t0-be-s33n"
SETTINGS: Final = {"INGEST_WORKER": "false", "FIRECRAWL_WEBHOOK_SECRET": SECRET}


@pytest.fixture(scope="module")
def application(service: Service) -> str:
    return str(service.get("/api/me")["application"]["id"])


@pytest.fixture
def database(server: str, service: Service) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(server, autocommit=True) as conn:
        yield conn


@pytest.fixture
def failed(database: psycopg.Connection[Any], service: Service, application: str) -> Iterator[None]:
    """Three jobs have failed, one waits for a review, one for another try, one is ready."""
    files = [(f"report {number}.txt", f"report {number}".encode()) for number in range(6)]
    service.upload(files)
    states = (
        "status = 'failed', last_error_code = 'corrupt', completed_at = now()",
        "status = 'failed', last_error_code = 'corrupt', completed_at = now()",
        "status = 'failed', last_error_code = 'no_text', completed_at = now()",
        "status = 'review_needed', review_reason = 'low_coverage'",
        "run_at = now() + interval '1 day', wait_reason = 'retry'",
    )
    for state in states:
        database.execute(
            f"update rag.processing_jobs set {state} where id = (select min(id::text)::uuid "
            "from rag.processing_jobs where status = 'pending' and run_at is null)".encode()
        )
    yield
    database.execute("delete from rag.processing_jobs")
    database.execute("delete from rag.knowledge_sources")
    database.execute("delete from rag.usage_changes; delete from rag.usage_totals")


def tile(page: Page, label: str) -> Locator:
    return page.locator(".tile", has_text=label)


def heading(page: Page, name: str) -> Locator:
    return page.get_by_role("heading", name=name, level=1)


def test_who_has_no_sources_sees_the_first_steps(page: Page, viewer_page: Page) -> None:
    page.goto(OVERVIEW)
    for name, address in (
        ("Upload files", "#/upload"),
        ("Add a site", "#/crawl"),
        ("Search", "#/search"),
    ):
        link = page.get_by_role("main").get_by_role("link", name=name)
        expect(link).to_have_attribute("href", address)
    check_accessibility(page)

    viewer_page.goto(OVERVIEW)
    expect(viewer_page.get_by_text("There are no sources yet")).to_be_visible()
    expect(viewer_page.get_by_role("link", name="Upload files")).to_have_count(0)


@pytest.mark.usefixtures("failed")
def test_figures_lead_to_what_they_count(page: Page) -> None:
    page.goto(OVERVIEW)

    expect(tile(page, "Ready")).to_contain_text("1")
    expect(tile(page, "Waiting")).to_contain_text("for another attempt")
    expect(tile(page, "Failed in 24 hours")).to_contain_text("3")
    expect(tile(page, "Failed in 24 hours")).to_have_attribute("href", "#/jobs?status=failed")
    expect(tile(page, "Reviews")).to_have_attribute("href", "#/reviews")
    failure = page.get_by_role("row", name=re.compile("The file is damaged"))
    expect(failure).to_contain_text("corrupt")
    expect(failure.get_by_role("cell").last).to_have_text("2")
    expect(failure.get_by_role("link")).to_have_attribute(
        "href", "#/jobs?status=failed&errorCode=corrupt"
    )
    # Somebody waits, and there is nobody who works.
    expect(page.get_by_text("No worker is alive, so nothing is processed.")).to_be_visible()
    check_accessibility(page)


@pytest.mark.usefixtures("failed")
def test_figures_change_while_they_are_looked_at(page: Page, service: Service) -> None:
    page.goto(OVERVIEW)
    expect(tile(page, "Ready").locator(".tile-value")).to_have_text("1")
    service.upload([("more.txt", b"more")])

    expect(tile(page, "Ready").locator(".tile-value")).to_have_text("2")


@pytest.mark.usefixtures("failed")
def test_the_chart_shows_what_ended_by_outcome(
    page: Page, database: psycopg.Connection[Any], application: str
) -> None:
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    for hours, outcome, count in ((1, "completed", 7), (1, "failed", 2), (30, "completed", 5)):
        database.execute(
            "insert into rag.activity "
            "(application_id, minute, worker_id, type, outcome, n, tokens, bytes) "
            "values (%s, %s, %s, 'file', %s, %s, %s, 100)",
            [application, now - timedelta(hours=hours), UUID(int=1), outcome, count, 10 * count],
        )
    page.goto(OVERVIEW)
    chart = page.get_by_role("img", name=re.compile("^Throughput of the last 24 hours in jobs"))
    expect(chart).to_have_accessible_name(re.compile("7 completed, 2 failed$"))

    page.get_by_role("button", name="7 days").click()
    page.get_by_label("Of what").select_option("tokens")
    week = page.get_by_role("img", name=re.compile("^Throughput of the last 7 days in tokens"))
    expect(week).to_have_accessible_name(re.compile("120 completed, 20 failed$"))
    expect(page).to_have_url(re.compile("measure=tokens"))
    page.reload()
    expect(week).to_be_visible()
    # Bars of the two outcomes, of which the later one stands on the earlier one.
    bars = week.locator("g rect")
    expect(bars).to_have_count(3)


@pytest.mark.usefixtures("failed")
def test_paused_types_and_providers_are_resumed_where_they_are_seen(
    page: Page, viewer_page: Page, service: Service, database: psycopg.Connection[Any]
) -> None:
    service.http.patch("/api/job-types/file", json={"isPaused": True}).raise_for_status()
    database.execute(
        "insert into rag.lanes (lane, paused_until, pause_reason, failing_since, error_code) "
        "values ('openai/small#ab12@llm.example', now() + interval '1 hour', "
        "        'provider_unavailable', now(), 'embedding_unauthorized')"
    )
    viewer_page.goto(OVERVIEW)
    expect(viewer_page.get_by_text("Jobs of the type file do not start.")).to_be_visible()
    expect(viewer_page.get_by_text("The provider openai/small fails.")).to_be_visible()
    expect(viewer_page.get_by_text("Only the operator can change it.")).to_have_count(2)
    expect(viewer_page.locator(".notices button")).to_have_count(0)
    expect(viewer_page.get_by_role("button", name="Pause all work")).to_have_count(0)

    page.goto(OVERVIEW)
    expect(page.get_by_text("embedding_unauthorized")).to_be_visible()
    check_accessibility(page)
    page.get_by_role("button", name="Resume the type").click()
    expect(page.get_by_text("Jobs of the type file do not start.")).to_have_count(0)
    page.get_by_role("button", name="Try now").click()
    expect(page.get_by_text("It failed several times.")).to_have_count(0)
    assert not service.get("/api/overview")["pausedTypes"]


@pytest.mark.usefixtures("failed")
def test_all_work_is_paused_after_a_question_and_resumed(page: Page, service: Service) -> None:
    page.goto(OVERVIEW)
    page.get_by_role("button", name="Pause all work").click()
    dialog = page.get_by_role("dialog", name="Pause all work of all applications?")
    dialog.get_by_role("button", name="Cancel").click()
    assert not service.get("/api/worker/config")["paused"]

    page.get_by_role("button", name="Pause all work").click()
    dialog.get_by_role("button", name="Pause all work").click()
    expect(page.get_by_text("All work is paused.")).to_be_visible()
    assert service.get("/api/worker/config")["paused"]

    page.get_by_role("button", name="Resume all work").click()
    expect(page.get_by_text("All work is paused.")).to_have_count(0)
    assert not service.get("/api/worker/config")["paused"]


@pytest.mark.usefixtures("failed")
def test_it_asks_at_most_once_a_second(page: Page) -> None:
    asked: list[str] = []
    answered: list[str] = []
    page.on("request", lambda request: asked.append(urlsplit(request.url).path))
    for end in ("requestfinished", "requestfailed"):
        page.on(end, lambda request: answered.append(urlsplit(request.url).path))
    page.clock.install()
    began = time.monotonic()
    page.goto(OVERVIEW)
    # A slow answer puts the next question off: so many are asked, however long it takes.
    minimum = {"/api/overview": 12, "/api/activity": 3, "/api/workers": 3}
    steps = 0
    while steps < 600 and any(asked.count(path) < count for path, count in minimum.items()):
        page.clock.run_for(500)
        steps += 1
        while len(answered) < len(asked):
            page.wait_for_timeout(5)

    # The page's own clock goes on meanwhile.
    passed = steps / 2 + time.monotonic() - began
    assert 12 <= asked.count("/api/overview") <= passed / 2.5 + 2
    for path in ("/api/activity", "/api/workers"):
        assert 3 <= asked.count(path) <= passed / 10 + 2


def test_a_key_that_is_limited_to_collections_is_told_so(
    open_browser: OpenBrowser, service: Service, application: str
) -> None:
    collection = service.http.post("/api/collections", json={"name": "some"}).json()["id"]
    body = {"name": "limited", "role": "viewer", "collectionIds": [collection]}
    key = service.http.post(f"/api/applications/{application}/keys", json=body).json()["key"]
    page = sign_in(open_browser(), key)

    page.goto(OVERVIEW)
    expect(page.get_by_text("This key sees some collections only")).to_be_visible()


@pytest.mark.usefixtures("failed")
@pytest.mark.parametrize("address", [OVERVIEW, SETTINGS_SCREEN])
def test_nothing_is_wider_than_a_telephone(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    page.goto(address)
    expect(page.get_by_role("table").last).to_be_visible()

    for part in page.locator("main > *, main .card").all():
        box = part.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 400


def test_health_is_said_in_words(page: Page, viewer_page: Page) -> None:
    page.goto(SETTINGS_SCREEN)
    health = page.get_by_role("region", name="Health")
    expect(health.get_by_role("status")).to_have_text("Ready, but one thing needs attention.")
    expect(health).to_contain_text("The database responds.")
    expect(health.get_by_role("listitem").filter(has_text="needs attention")).to_contain_text(
        ["No worker is alive, and none ever was."]
    )
    check_accessibility(page)

    viewer_page.goto(SETTINGS_SCREEN)
    expect(viewer_page.get_by_text("The database responds.")).to_be_visible()
    expect(viewer_page.get_by_text("shown to the operator")).to_be_visible()


def test_settings_are_found_and_secrets_are_not(page: Page) -> None:
    page.goto(SETTINGS_SCREEN)
    secret = page.get_by_role("row", name=re.compile("FIRECRAWL_WEBHOOK_SECRET"))
    expect(secret).to_contain_text("secret, not shown")
    assert SECRET not in page.content()

    page.get_by_role("searchbox").fill("heartbeat")
    expect(page.get_by_role("row")).to_have_count(2)
    expect(page.get_by_role("row").last).to_contain_text("20s")
    expect(page).to_have_url(re.compile("q=heartbeat"))
    page.get_by_label("Set by", exact=True).select_option("set")
    expect(page.get_by_text("No setting matches")).to_be_visible()
