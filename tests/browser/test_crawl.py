"""Adding a site by the page: checked first, followed live, and its removals decided by a person."""

import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from harness.service import Service, until
from tests.browser.accessibility import check_accessibility

SETTINGS = {
    "INGEST_FETCH_ALLOW": "127.0.0.0/8",
    "INGEST_RESCRAPE_MAX_REMOVED": "0.1",
    "INGEST_CRAWL_DELAY": "0s",
}
PAGES = 4


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The address of a site, and the folder of its pages."""
    for number in range(PAGES):
        text = f"<title>Pump {number}</title><p>Pump {number} moves {number * 7} litres of water."
        (tmp_path / f"{number}.html").write_text(text)
    write_start(tmp_path, range(PAGES))
    (tmp_path / "robots.txt").write_text("User-agent: *\nDisallow: /private\n")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(tmp_path))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/", tmp_path
        server.shutdown()


def write_start(folder: Path, pages: range) -> None:
    links = "".join(f'<a href="/{number}.html">pump</a> ' for number in pages)
    (folder / "index.html").write_text(f"<title>Pumps</title><p>All our pumps.</p>{links}")


def fill_in(page: Page, url: str) -> None:
    page.goto("#/crawl")
    page.get_by_label("Address").fill(url)


def test_site_is_checked_crawled_and_its_removals_are_decided(
    page: Page, site: tuple[str, Path]
) -> None:
    url, folder = site
    fill_in(page, url)
    page.get_by_label("When to fetch it again").select_option("week")
    expect(page.get_by_text("Next times")).to_be_visible()
    page.get_by_role("button", name="Check first").click()
    expect(page.get_by_text("The start page can be read.")).to_be_visible()
    expect(page.get_by_text("allows crawling")).to_be_visible()
    check_accessibility(page)
    page.get_by_role("button", name="Start").click()

    expect(page.locator(".status-line").get_by_text("completed")).to_be_visible()
    expect(page.get_by_role("row")).to_have_count(PAGES + 2)
    expect(page.get_by_text("every Monday at 06:00")).to_be_visible()

    for number in range(2):
        (folder / f"{number}.html").unlink()
    write_start(folder, range(2, PAGES))
    page.get_by_role("button", name="Fetch again").click()
    page.get_by_role("dialog").get_by_role("button", name="Fetch again").click()
    expect(page.get_by_text("2 pages are missing and would be removed")).to_be_visible()
    goes = page.locator(".held-pages li")
    expect(goes).to_have_count(2)
    assert sorted(goes.all_inner_texts()) == [f"{url}0.html", f"{url}1.html"]
    check_accessibility(page)
    page.get_by_role("button", name="Remove 2 pages").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove 2 pages").click()

    expect(page.locator(".status-line").get_by_text("completed")).to_be_visible()
    page.get_by_role("tab", name="Runs").click()
    expect(page.get_by_text("2 removed")).to_be_visible()


def test_what_repeats_is_left_out_shown_and_can_be_kept(
    page: Page, site: tuple[str, Path], service: Service
) -> None:
    url, folder = site
    names = [
        f"{word}.html"
        for word in ["amber", "birch", "cedar", "dune", "elder", "fern", "gorse", "hazel"]
    ]
    menu = "".join(f'<p><a href="/{name}">Menu {name}</a></p>' for name in names)
    for name in names:
        own = f"<p>Here grows {name}, which was planted by hand and is cut in autumn only.</p>"
        (folder / name).write_text(f"<title>{name}</title>{menu}{own}")
    fill_in(page, f"{url}amber.html")
    page.get_by_text("Limits and patterns").click()
    field = page.get_by_label("What repeats on a site's pages")
    field.select_option("left out")
    check_accessibility(page)
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".status-line").get_by_text("completed")).to_be_visible()
    page.get_by_role("tab", name="Runs").click()
    expect(page.get_by_text(re.compile("repeated blocks left out"))).to_be_visible()
    # The pages that were stored before are cut again afterwards.
    until(lambda: not any("Menu" in hit["content"] for hit in service.search("Menu birch")))

    page.get_by_role("link", name="Documents, chunks and jobs").click()
    page.get_by_role("tab", name="Settings").click()
    expect(page.get_by_text("What repeats on a site's pages: left out")).to_be_visible()
    page.get_by_role("tab", name="Documents").click()
    page.get_by_role("link", name="cedar.html").click()
    left_out = page.get_by_text("What was left out of this page")
    left_out.click()
    expect(page.get_by_text("Menu birch.html")).to_be_visible()
    check_accessibility(page)

    page.get_by_role("link", name="Source", exact=True).click()
    page.get_by_role("tab", name="Settings").click()
    field.select_option("kept")
    page.locator("form").filter(has=field).get_by_role("button", name="Save").click()
    expect(page.get_by_text("What repeats on a site's pages: kept")).to_be_visible()


def test_patterns_are_checked_while_they_are_typed(page: Page) -> None:
    fill_in(page, "docs.example")
    page.get_by_text("Limits and patterns").click()
    page.get_by_label("Only these paths").fill("^/docs/(?!old)")
    expect(page.get_by_text("look-around, which RE2 does not know")).to_be_visible()
    expect(page.get_by_role("button", name="Check first")).to_be_disabled()
    page.get_by_label("Only these paths").fill("^/docs/")
    page.get_by_label("Try a path").fill("/blog/x")

    expect(page.get_by_text("It would be left out.")).to_be_visible()


def test_private_address_is_refused_with_what_to_do(page: Page) -> None:
    fill_in(page, "http://10.0.0.1/")
    page.get_by_role("button", name="Check first").click()

    expect(page.get_by_text("fetch_blocked")).to_be_visible()


def test_viewer_sees_a_site_without_buttons(
    viewer_page: Page, page: Page, site: tuple[str, Path]
) -> None:
    fill_in(page, site[0])
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/#/sites/*")
    viewer_page.goto(page.url)

    expect(viewer_page.get_by_role("tab", name="Runs")).to_be_visible()
    expect(viewer_page.get_by_role("button", name="Fetch again")).to_have_count(0)
    expect(viewer_page.get_by_role("button", name="Change the schedule")).to_have_count(0)
