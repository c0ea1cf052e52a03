"""Jobs, reviews and uploads in the dashboard."""

import re
from typing import Final

import pytest
from playwright.sync_api import Page, expect

from harness.service import Service
from tests.browser.accessibility import check_accessibility
from tests.builders.make_pdf import document, lines

BROKEN: Final = ("broken.pdf", b"%PDF-1.4 no")


@pytest.fixture(scope="module")
def filled(service: Service) -> Service:
    """With jobs that ended well and badly."""
    files = [(f"{n}.md", f"# {n}\n\nwords of {n}".encode()) for n in range(3)]
    service.upload([*files, BROKEN, ("empty.txt", b"")])
    service.wait_until_terminal(service.get("/api/me")["application"]["id"])
    return service


def test_jobs_are_found_and_one_has_its_reason_and_log(page: Page, filled: Service) -> None:
    page.goto("#/jobs")
    expect(page.locator("tbody tr")).to_have_count(4)
    check_accessibility(page)
    page.get_by_label("State").select_option("failed")
    expect(page).to_have_url(re.compile("status=failed"))
    expect(page.locator("tbody tr")).to_have_count(1)
    page.get_by_role("link", name="broken.pdf").click()
    expect(page.get_by_role("heading", name="Job: file")).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text("corrupt")
    expect(page.get_by_role("list", name="Log")).to_contain_text("damaged")
    check_accessibility(page)
    page.get_by_role("link", name="Open the source").click()
    expect(page.get_by_role("heading", name="broken.pdf")).to_be_visible()


def test_the_log_of_a_job_grows_while_it_is_read(page: Page, filled: Service) -> None:
    filled.http.patch("/api/job-types/file", json={"isPaused": True}).raise_for_status()
    job = filled.upload([("later.md", b"# later")])["files"][0]["jobId"]
    page.goto(f"#/jobs/{job}")
    expect(page.get_by_text("No line yet.")).to_be_visible()
    expect(page.get_by_text("waits for the end of a pause", exact=True)).to_be_visible()
    page.get_by_role("button", name="Resume the type").click()
    expect(page.get_by_role("list", name="Log")).to_contain_text("store done")
    expect(page.get_by_role("main")).to_contain_text("completed")


def test_jobs_of_a_filter_are_retried_together(page: Page, filled: Service) -> None:
    page.goto("#/jobs?errorCode=corrupt")
    expect(page.locator("tbody tr")).to_have_count(1)
    page.get_by_label("Bulk action").select_option("retry")
    page.get_by_role("dialog").get_by_role("button", name="Retry: 1 job").click()
    expect(page.get_by_text("1 changed.")).to_be_visible()
    page.goto("#/jobs?type=bulk")
    page.get_by_role("link", name="bulk action").click()
    expect(page.get_by_role("main")).to_contain_text('"changed": 1')


def test_reviews_are_answered_by_keyboard(page: Page, viewer_page: Page, filled: Service) -> None:
    application = filled.get("/api/me")["application"]["id"]
    filled.http.patch(
        f"/api/applications/{application}", json={"settings": {"reviews": ["low_coverage"]}}
    ).raise_for_status()
    sparse = [
        (f"sparse{n}.pdf", document(lines(50, 700, f"Some words of page {n}"), b"", b""))
        for n in range(2)
    ]
    filled.upload(sparse)
    filled.wait_until_terminal(application)
    viewer_page.goto("#/reviews")
    expect(viewer_page.get_by_text("1 of 3 pages have text")).to_have_count(2)
    assert viewer_page.get_by_role("button", name="Approve").count() == 0

    page.goto("#/reviews")
    expect(page.get_by_role("heading", name=re.compile("sparse"))).to_have_count(2)
    check_accessibility(page)
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("[data-review]").nth(1)).to_be_focused()
    page.keyboard.press("a")
    expect(page.get_by_text("Approved.")).to_be_visible()
    expect(page.get_by_role("heading", name=re.compile("sparse"))).to_have_count(1)
    page.keyboard.press("j")
    page.keyboard.press("r")
    expect(page.get_by_text("Nothing needs a review")).to_be_visible()

    states = {
        source["uri"]: source["status"]
        for source in filled.get("/api/knowledge-sources", q="sparse")["items"]
    }
    assert sorted(states.values()) == ["cancelled", "completed"]


def test_an_upload_reports_each_file_in_numbers_that_add_up(page: Page, filled: Service) -> None:
    page.goto("#/batches")
    row = page.get_by_role("row").filter(has_text="1 rejected")
    expect(row).to_contain_text("3 completed")
    check_accessibility(page)
    row.get_by_role("link").click()
    expect(page.get_by_role("heading", name="5 files in all")).to_be_visible()
    parts = page.locator(".legends li").all_inner_texts()
    assert sum(int(part.split()[0]) for part in parts) == 5
    expect(page.locator("tbody tr")).to_have_count(2)
    expect(page.get_by_role("row", name="empty.txt")).to_contain_text("empty_content")
    page.get_by_role("button", name="5 All").click()
    expect(page.locator("tbody tr")).to_have_count(5)
    check_accessibility(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Report as CSV").click()
    assert len(download.value.path().read_text().splitlines()) == 6

    page.get_by_role("button", name="Retry failed").click()
    expect(page.get_by_text("1 job was queued again.")).to_be_visible()

    [source] = filled.get("/api/knowledge-sources", uri="2.md")["items"]
    filled.http.delete(f"/api/knowledge-sources/{source['id']}").raise_for_status()
    expect(page.locator(".legends").get_by_text("1 deleted")).to_be_visible()
    expect(page.get_by_role("row", name="2.md")).to_contain_text("deleted")


def test_an_upload_says_what_its_files_wait_for(page: Page, filled: Service) -> None:
    filled.http.put("/api/worker/config", json={"paused": True}).raise_for_status()
    batch = filled.upload([(f"held{n}.md", b"# held") for n in range(2)])["batchId"]
    page.goto(f"#/batches/{batch}")
    expect(page.get_by_role("link", name="wait for the end of a pause")).to_be_visible()
    filled.http.put("/api/worker/config", json={"paused": False}).raise_for_status()
    expect(page.locator(".legends").get_by_text("completed")).to_be_visible()
    expect(page.get_by_role("link", name="end of a pause")).to_have_count(0)
