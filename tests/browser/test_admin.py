"""The screens of administrators: keys, job types, webhooks, schedules, collections."""

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from playwright.sync_api import Page, expect

from harness.service import Service
from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import OpenBrowser, sign_in

SETTINGS = {"INGEST_FETCH_ALLOW": "127.0.0.0/8"}


@pytest.fixture
def receiver() -> Iterator[str]:
    """The address of somebody who refuses what it is told."""

    class Refuse(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(418)
            self.end_headers()
            self.wfile.write(b"I am a <b>teapot</b>")

        def log_message(self, format: str, *args: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Refuse) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/hook"
        server.shutdown()


def confirm(page: Page, action: str) -> None:
    page.get_by_role("dialog").get_by_role("button", name=action).click()


def test_key_is_made_for_a_colleague_shown_once_used_and_revoked(
    page: Page, service: Service
) -> None:
    page.goto("#/applications")
    page.get_by_role("link", name="default").click()
    page.get_by_role("button", name="New key").click()
    page.get_by_label("What it is for").fill("Ada <b>")
    page.get_by_label("Role").select_option("editor")
    page.get_by_role("button", name="Create the key").click()
    secret = page.get_by_role("dialog").locator("code").inner_text()
    check_accessibility(page)
    page.get_by_role("button", name="I have copied it").click()
    row = page.get_by_role("row", name=re.compile("Ada <b>"))
    expect(row).to_contain_text("not yet")
    expect(page.get_by_text(secret)).to_have_count(0)

    with httpx.Client(base_url=service.url, headers={"Authorization": f"Bearer {secret}"}) as ada:
        assert ada.get("/api/jobs").status_code == 200
        page.reload()
        expect(row).not_to_contain_text("not yet")
        row.get_by_role("button", name="Revoke").click()
        confirm(page, "Revoke")
        expect(row).to_contain_text("revoked")
        assert ada.get("/api/jobs").status_code == 401


def test_settings_of_an_application_are_saved(page: Page, service: Service) -> None:
    page.goto("#/applications")
    page.get_by_role("button", name="New application").click()
    page.get_by_role("dialog").get_by_label("Name").fill("Team B")
    confirm(page, "New application")
    expect(page.get_by_role("heading", name="Team B")).to_be_visible()
    page.get_by_label("Weight").fill("7")
    page.get_by_label("Tokens a day").fill("0")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Tokens a day")).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Tokens a day").fill("5000")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    # What this application uses, not the one in the header.
    expect(page.locator(".use")).to_contain_text("0 of 5,000")

    [found] = [
        item for item in service.get("/api/applications")["items"] if item["name"] == "Team B"
    ]
    assert (found["settings"]["weight"], found["settings"]["tokensPerDay"]) == (7, 5000)


def test_job_type_is_paused_resumed_and_limited(page: Page, service: Service) -> None:
    page.goto("#/job-types")
    row = page.get_by_role("row", name=re.compile("^final deletion"))
    page.get_by_role("button", name="Pause final deletion").click()
    confirm(page, "Pause")
    expect(row).to_contain_text("paused")
    page.get_by_role("button", name="Resume final deletion").click()
    expect(row).to_contain_text("runs")
    page.get_by_role("button", name="Limits of final deletion").click()
    page.get_by_label("At once").fill("3")
    confirm(page, "Save")
    expect(row.get_by_role("cell", name="3", exact=True)).to_be_visible()
    check_accessibility(page)

    [purge] = [row for row in service.get("/api/job-types")["items"] if row["type"] == "purge"]
    assert (purge["isPaused"], purge["maxConcurrent"]) == (False, 3)


def test_provider_is_paused_with_a_note_and_resumed_on_the_overview(
    page: Page, viewer_page: Page, service: Service
) -> None:
    embedder = service.get("/api/me")["embedder"]
    name = f"{embedder['provider']}/{embedder['model']}"
    page.goto("#/job-types")
    page.get_by_role("button", name=f"Pause {name}").click()
    page.get_by_label("Who pauses it, and why").fill("Ada <b>: a new GPU")
    check_accessibility(page)
    confirm(page, "Pause")
    expect(page.get_by_role("row").filter(has_text=name)).to_contain_text("Ada <b>")
    check_accessibility(page)
    [file] = service.upload([("waits.txt", b"waits for the provider")])["files"]

    page.goto(f"#/sources/{file['knowledgeSourceId']}")
    wait = page.get_by_role("status").filter(has_text="operator has paused")
    expect(wait.get_by_role("button", name="Resume the provider")).to_be_visible()
    for each in (viewer_page, page):
        each.goto("#/overview")
        notice = each.get_by_role("listitem").filter(has_text="has paused the provider")
        expect(notice).to_contain_text(name)
        expect(notice).to_contain_text("Ada <b>: a new GPU")
    expect(viewer_page.get_by_role("button", name="Resume the provider")).to_have_count(0)
    check_accessibility(page)
    notice.get_by_role("button", name="Resume the provider").click()
    expect(notice).to_have_count(0)

    service.wait_until_terminal(file["knowledgeSourceId"])
    assert service.get(f"/api/knowledge-sources/{file['knowledgeSourceId']}")["chunkCount"] == 1


def test_webhook_shows_its_secret_once_and_what_was_sent_and_answered(
    page: Page, receiver: str
) -> None:
    page.goto("#/webhooks")
    page.get_by_role("button", name="New endpoint").click()
    page.get_by_label("Address").fill(receiver)
    confirm(page, "Save")
    first = page.get_by_role("dialog").locator("code").inner_text()
    page.get_by_role("button", name="I have copied it").click()
    page.get_by_role("button", name="Send a test delivery").click()
    sent = page.get_by_role("dialog")
    expect(sent.get_by_label("Request")).to_contain_text(f"POST {receiver}")
    expect(sent.get_by_label("Request")).to_contain_text(re.compile("webhook-signature: v1,"))
    expect(sent.get_by_label("Request")).to_contain_text('"type": "endpoint.test"')
    expect(sent.get_by_label("Answer")).to_have_text("I am a <b>teapot</b>")
    expect(sent.get_by_text("418", exact=True)).to_be_visible()
    check_accessibility(page)
    page.keyboard.press("Escape")
    row = page.get_by_role("row", name=re.compile("endpoint.test"))
    show = page.get_by_role("button", name=re.compile("new · show"))
    row.or_(show).first.wait_for()
    expect(row).to_contain_text("418")
    row.get_by_role("button", name="Show").click()
    expect(page.get_by_role("dialog").locator("pre").first).to_contain_text('"endpoint.test"')
    page.keyboard.press("Escape")
    page.get_by_role("button", name="New secret").click()
    confirm(page, "New secret")
    expect(page.get_by_role("dialog").locator("pre code")).not_to_have_text(first)
    page.get_by_role("button", name="I have copied it").click()
    page.get_by_role("button", name="Disable").click()
    expect(page.get_by_role("button", name="Enable")).to_be_visible()
    check_accessibility(page)


def test_schedule_is_changed_and_given_up(page: Page, service: Service) -> None:
    body = {"url": "https://site.example/", "rescrape": {"cron": "30 4 * * 1"}}
    service.http.post("/upload/url", json=body).raise_for_status()
    page.goto("#/schedules")
    row = page.get_by_role("row", name=re.compile("site.example"))
    expect(row).to_contain_text("every Monday at 04:30 (UTC)")
    expect(page.get_by_role("heading", name="Nightly round")).to_be_visible()
    check_accessibility(page)
    row.get_by_role("button", name="Edit").click()
    page.get_by_label("When to fetch it again").select_option("day")
    expect(page.get_by_role("dialog").get_by_text("Next times")).to_be_visible()
    confirm(page, "Save")
    expect(row).to_contain_text("every day at 04:30")
    row.get_by_role("button", name="To the nightly round").click()
    confirm(page, "To the nightly round")
    expect(page.get_by_role("dialog")).to_have_count(0)

    page.reload()
    expect(page.get_by_text("No source has a schedule of its own")).to_be_visible()


def test_collection_gets_and_loses_a_source_and_is_deleted(page: Page, service: Service) -> None:
    files = {"files": ("handbook/leave.txt", b"Leave policy")}
    service.http.post("/upload/documents", files=files).raise_for_status()
    page.goto("#/collections")
    page.get_by_role("button", name="New collection").click()
    page.get_by_label("Name").fill("HR")
    confirm(page, "Save")
    page.get_by_role("button", name="Add sources").click()
    part = page.get_by_role("dialog").get_by_label("Part of a name, path or address")
    part.fill("missing")
    expect(page.get_by_text("No source matches.")).to_be_visible()
    part.fill("leave")
    page.get_by_label("handbook/leave.txt").check()
    check_accessibility(page)
    confirm(page, "Add 1 source")
    expect(page.get_by_role("link", name="Search in it")).to_be_visible()
    row = page.get_by_role("row", name=re.compile("leave.txt"))
    row.get_by_role("button", name="Take out").click()
    expect(row).to_have_count(0)
    check_accessibility(page)
    page.get_by_role("button", name="Delete").click()
    confirm(page, "Delete the collection")

    expect(page.get_by_text("No collection yet")).to_be_visible()


@pytest.mark.parametrize("screen", ["applications", "webhooks"])
def test_viewer_learns_whom_to_ask(viewer_page: Page, screen: str) -> None:
    viewer_page.goto(f"#/{screen}")

    expect(viewer_page.get_by_text("Your key may not see this")).to_be_visible()
    expect(viewer_page.locator("main").get_by_role("button")).to_have_count(0)


def test_viewer_sees_lists_without_buttons_on_a_narrow_screen(
    open_browser: OpenBrowser, viewer_key: str
) -> None:
    page = sign_in(open_browser(viewport={"width": 400, "height": 800}), viewer_key)
    for screen, heading in (("job-types", "Job types"), ("collections", "Collections")):
        page.goto(f"#/{screen}")
        expect(page.get_by_role("heading", name=heading)).to_be_visible()
        expect(page.locator("main").get_by_role("button")).to_have_count(0)
