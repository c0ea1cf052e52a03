"""The lists of sources: found, mended, changed together."""

import re

import pytest
from playwright.sync_api import FilePayload, Page, Request, expect

from harness.service import Service
from tests.browser.accessibility import check_accessibility
from tests.browser.filled_sources import LONG, fill, source_id
from tests.builders.make_archives import zip_of


@pytest.fixture(scope="module")
def filled(service: Service) -> Service:
    """With files of all kinds, read."""
    fill(service)
    return service


def rows(page: Page) -> list[str]:
    return [name.inner_text() for name in page.locator("tbody .row-link > .name:first-child").all()]


def test_filters_and_text_are_in_the_address_and_survive_a_reload(
    page: Page, filled: Service
) -> None:
    page.goto("#/sources")
    page.get_by_role("searchbox").fill("docs/")
    expect(page).to_have_url(re.compile("q=docs/"))
    expect(page.locator("tbody tr")).to_have_count(5)
    page.goto("#/sources?errorCode=corrupt")
    known = page.locator("datalist option[value=corrupt]")
    expect(known).to_have_text("The file is damaged.")
    expect(page.locator("tbody tr")).to_have_count(1)
    page.reload()
    expect(page.locator("tbody tr")).to_have_count(1)
    assert rows(page) == ["broken.pdf"]
    page.get_by_role("button", name="Remove the filter “Error code”").click()
    expect(page.locator("tbody tr")).to_have_count(10)
    page.get_by_role("link", name="1 failed").click()
    expect(page).to_have_url(re.compile("status=failed"))
    expect(page.locator("tbody tr")).to_have_count(1)


def test_the_largest_are_first_by_the_address(page: Page, filled: Service) -> None:
    page.goto("#/sources?type=file")
    page.get_by_role("button", name="Size").click()
    expect(page).to_have_url(re.compile("sort=sizeBytes"))
    expect(page.get_by_role("columnheader", name="Size")).to_have_attribute(
        "aria-sort", "descending"
    )
    largest = LONG.rpartition("/")[2]
    expect(page.locator("tbody .row-link .name").first).to_have_text(largest)
    page.reload()
    expect(page.locator("tbody .row-link .name").first).to_have_text(largest)
    for title, sort in (("Chunks", "chunkCount"), ("Tokens", "tokenCount")):
        page.get_by_role("button", name=title).click()
        expect(page).to_have_url(re.compile(f"sort={sort}"))
        expect(page.get_by_role("columnheader", name=title)).to_have_attribute(
            "aria-sort", "descending"
        )
        expect(page.locator("tbody tr").last).to_contain_text("broken.pdf")


def test_a_failed_file_says_why_and_has_the_button_that_mends_it(
    page: Page, filled: Service
) -> None:
    page.goto("#/sources?status=failed")
    page.get_by_role("link", name="broken.pdf").click()
    expect(page.get_by_role("heading", name="broken.pdf")).to_be_visible()
    card = page.get_by_role("alert")
    expect(card).to_contain_text("The file is damaged.")
    expect(card).to_contain_text("corrupt")
    expect(card.get_by_role("button", name="Upload another version")).to_be_visible()
    expect(page.get_by_role("listitem").filter(has_text="extract")).to_contain_text("failed here")
    check_accessibility(page)

    before = filled.get(f"/api/knowledge-sources/{source_id(filled, 'broken.pdf')}")["eventSeq"]
    page.get_by_role("button", name="Retry").click()
    expect(page.get_by_text("It was queued again.")).to_be_visible()
    filled.wait_until_terminal(source_id(filled, "broken.pdf"))
    after = filled.get(f"/api/knowledge-sources/{source_id(filled, 'broken.pdf')}")["eventSeq"]
    assert after > before


def test_what_waits_says_for_what_and_has_the_button(
    page: Page, viewer_page: Page, filled: Service
) -> None:
    filled.http.put("/api/worker/config", json={"paused": True}).raise_for_status()
    filled.upload([("held.md", b"# held back")])
    source = source_id(filled, "held.md")
    page.goto("#/sources?status=pending")
    expect(page.get_by_role("row", name="held.md")).to_contain_text("waits for the end of a pause")
    viewer_page.goto(f"#/sources/{source}")
    expect(viewer_page.get_by_text("All work is paused.")).to_be_visible()
    assert viewer_page.get_by_role("button", name="Resume").count() == 0

    page.get_by_role("link", name="held.md").click()
    expect(page.get_by_text("It waits for the end of a pause.")).to_be_visible()
    check_accessibility(page)
    page.get_by_role("button", name="Resume all work").click()
    expect(page.locator(".lead").get_by_text("completed")).to_be_visible()
    expect(page.get_by_text("It waits")).to_have_count(0)
    filled.http.delete(f"/api/knowledge-sources/{source}").raise_for_status()


def test_of_a_partial_file_the_failed_files_in_it_are_retried(page: Page, filled: Service) -> None:
    data = zip_of({"fine.txt": b"fine words", "bad.pdf": b"%PDF-1.4 no"})
    filled.upload([("bundle.zip", data)])
    source = source_id(filled, "bundle.zip")
    filled.wait_until_terminal(source)
    page.goto(f"#/sources/{source}")
    expect(page.locator(".lead").get_by_text("partial")).to_be_visible()
    # The file itself was read: there is nothing to retry but what failed in it.
    assert page.get_by_role("button", name="Retry", exact=True).count() == 0
    page.get_by_role("button", name="Retry the failed ones").click()
    expect(page.get_by_text("It was queued again.")).to_be_visible()
    filled.wait_until_terminal(source)
    filled.http.delete(f"/api/knowledge-sources/{source}").raise_for_status()


def test_messages_are_above_a_dialog_and_can_be_closed_there(page: Page, filled: Service) -> None:
    page.goto(f"#/sources/{source_id(filled, 'docs/1.md')}?tab=settings")
    page.get_by_role("textbox", name="Metadata").fill("seen=true")
    page.locator("form").first.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    page.locator("h1").press("?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(dialog.get_by_text("Saved.")).to_be_visible()
    dialog.locator(".toast").get_by_role("button", name="Close").click()
    expect(page.get_by_text("Saved.")).to_have_count(0)
    expect(dialog).to_be_visible()


def test_another_version_takes_the_place_of_a_failed_file(page: Page, filled: Service) -> None:
    filled.upload([("drafts/late.txt", b" ")])
    source = source_id(filled, "drafts/late.txt")
    filled.wait_until_terminal(source)
    page.goto(f"#/sources/{source}")
    version = FilePayload(name="its other name.txt", mimeType="text/plain", buffer=b"late words")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload another version").click()
    chooser.value.set_files(version)
    expect(page.locator(".lead").get_by_text("completed")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    assert filled.get("/api/knowledge-sources", uri="its other name.txt")["items"] == []
    filled.http.delete(f"/api/knowledge-sources/{source}").raise_for_status()


def test_all_of_a_filter_is_changed_after_a_count(page: Page, filled: Service) -> None:
    counts: list[Request] = []
    page.on("request", lambda request: counts.append(request) if is_bulk(request) else None)
    page.goto("#/sources?q=docs/&changed=day")  # a period, which moves on
    expect(page.locator("tbody tr")).to_have_count(5)
    page.get_by_label("Bulk action").select_option("fetch_again")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Nothing would be changed.")
    expect(dialog).to_contain_text("5 stay as they are: files have no address to fetch.")
    assert dialog.get_by_role("button", name="Fetch again").is_disabled()
    check_accessibility(page)
    page.keyboard.press("Escape")

    page.get_by_label("Bulk action").select_option("set_metadata")
    dialog.get_by_role("textbox", name="Metadata").fill("reviewed=true")
    dialog.get_by_role("button", name="Set metadata: 5 sources").click()
    expect(page.get_by_text("5 changed.")).to_be_visible()
    assert len(counts) == 3  # two dry runs, one start
    found = filled.get("/api/knowledge-sources", metadata="reviewed=true")["items"]
    assert len(found) == 5


def is_bulk(request: Request) -> bool:
    return request.url.endswith("/bulk")


def test_selected_rows_are_deleted_and_leave_the_list(page: Page, filled: Service) -> None:
    filled.upload([(f"doomed/{n}.txt", f"doomed {n}".encode()) for n in range(3)])
    page.goto("#/sources?q=doomed/")
    expect(page.locator("tbody tr")).to_have_count(3)
    for row in page.locator("tbody tr").all()[:2]:
        row.get_by_role("checkbox").check()
    page.get_by_label("Bulk action").select_option("delete")
    page.get_by_role("dialog").get_by_role("button", name="Delete: 2 sources").click()
    expect(page.get_by_text("2 changed.")).to_be_visible()
    expect(page.locator("tbody tr")).to_have_count(1)
    page.reload()  # the job is in the address
    expect(page.get_by_text("2 changed.")).to_be_visible()
