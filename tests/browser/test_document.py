"""The document view: the picture of a page, its text and its chunks mark each other's places."""

import re
from collections.abc import Callable
from typing import Any, Final

import pytest
from playwright.sync_api import Locator, Page, expect

from harness.service import Service
from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import OpenBrowser, sign_in
from tests.builders.make_pdf import Sheet, at, document, image
from tests.builders.placed_pages import PlacedPage, Writer, pdf_of, prose

SETTINGS: Final = {"INGEST_CHUNK_TOKENS": "64", "INGEST_OCR": "off"}

HOSTILE: Final = r"""# Title \<img src=x onerror=alert(1)>

\<script>alert(1)\</script> and [a link](javascript:alert(1)) and [another](https://example.org/).

![remote](https://example.org/pixel.png) **bold** `code`

| Name | Size |
|---|---|
| one | 2 |
"""

AddFile = Callable[[str, bytes], Any]
"""Uploads a file, and returns its document."""


@pytest.fixture(scope="module")
def add_file(service: Service) -> AddFile:
    def add(name: str, data: bytes) -> Any:
        [id] = service.upload([(name, data)])["knowledgeSourceIds"]
        service.wait_until_terminal(id)
        return service.get(f"/api/knowledge-sources/{id}/documents")["items"][0]

    return add


@pytest.fixture(scope="module")
def report(add_file: AddFile) -> Any:
    """A PDF of four pages of prose, a blank one, and one that is a picture."""
    writer = Writer(7)
    pages = [PlacedPage(prose(writer)) for _ in range(4)]
    data = pdf_of([*pages, PlacedPage([]), PlacedPage([], extra=image(0, 0, 600, 800))])
    return add_file("report.pdf", data)


@pytest.fixture(scope="module")
def chunks(service: Service, report: Any) -> Any:
    return service.get(f"/api/documents/{report['id']}/chunks", limit=200)["items"]


def address(document: Any, **query: object) -> str:
    parameters = "&".join(f"{name}={value}" for name, value in query.items())
    return f"#/documents/{document['id']}" + (f"?{parameters}" if parameters else "")


def marked(page: Page) -> Locator:
    """The places of the chunk on the picture of the page."""
    return page.locator("rect.is-marked")


def chunk_button(page: Page, chunk: Any) -> Locator:
    name = re.compile(rf"^Chunk {chunk['ordinal'] + 1}\b")
    return page.get_by_label("Chunks").get_by_role("button", name=name)


def test_a_citation_shows_its_passage_in_the_page_the_text_and_the_chunks(
    page: Page, report: Any, chunks: Any
) -> None:
    chunk = next(chunk for chunk in chunks if chunk["page"] == 3)

    page.goto(address(report, chunk=chunk["id"]))

    expect(page.get_by_role("button", name="Page 3: text")).to_have_attribute(
        "aria-current", "page"
    )
    expect(marked(page).first).to_be_attached()
    expect(chunk_button(page, chunk)).to_have_attribute("aria-pressed", "true")
    shown = " ".join(" ".join(page.locator("mark").all_inner_texts()).split())
    assert shown in " ".join(chunk["content"].split())
    assert len(shown) > 100


def test_what_is_clicked_in_one_pane_is_marked_in_the_others(
    page: Page, report: Any, chunks: Any
) -> None:
    first, second = [chunk for chunk in chunks if chunk["page"] == 1][1:3]
    page.goto(address(report))
    chunk_button(page, first).click()
    expect(page).to_have_url(re.compile(f"chunk={first['id']}"))
    expect(page.locator("mark").first).to_be_visible()

    page.locator(f".text-pane [data-chunk='{second['id']}']").first.click()
    expect(chunk_button(page, second)).to_have_attribute("aria-pressed", "true")
    expect(page).to_have_url(re.compile(f"chunk={second['id']}"))

    page.locator(f"rect[data-chunk='{first['id']}']").nth(1).click()
    expect(chunk_button(page, first)).to_have_attribute("aria-pressed", "true")


def test_pointing_at_a_chunk_marks_it_and_leaving_unmarks_it(
    page: Page, report: Any, chunks: Any
) -> None:
    page.goto(address(report))
    chunk = chunks[1]
    expect(page.locator("rect").first).to_be_attached()
    chunk_button(page, chunk).hover()
    expect(marked(page).first).to_be_attached()
    expect(page.locator("mark").first).to_be_visible()
    page.get_by_role("heading", level=1).hover()
    expect(marked(page)).to_have_count(0)


def test_it_is_used_by_keyboard_alone(page: Page, report: Any, chunks: Any) -> None:
    page.goto(address(report))
    chunk_button(page, chunks[0]).focus()
    page.keyboard.press("ArrowDown")
    expect(chunk_button(page, chunks[1])).to_be_focused()
    expect(marked(page).first).to_be_attached()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"chunk={chunks[1]['id']}"))

    page.get_by_role("button", name="Next page").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Page 2 of 6")).to_be_visible()
    page.get_by_role("button", name="Back to the chunk").press("Enter")
    expect(page.get_by_text("Page 1 of 6")).to_be_visible()


def test_pages_without_text_say_so(page: Page, report: Any) -> None:
    page.goto(address(report, page=5))
    expect(page.get_by_text("This page has no text.")).to_be_visible()
    expect(page.get_by_text("No chunk is on this page.")).to_be_visible()
    expect(page.get_by_text("Where the words stand")).to_have_count(0)
    expect(page.get_by_role("button", name="Page 5: empty")).to_be_visible()
    expect(page.get_by_role("button", name="Page 6: a picture that was not read")).to_be_visible()
    expect(page.get_by_text("Some pages are pictures whose text was not")).to_be_visible()


def test_hostile_markdown_is_text(page: Page, add_file: AddFile) -> None:
    page.goto(address(add_file("notes.md", HOSTILE.encode())))

    text = page.get_by_label("Text").last
    expect(text).to_contain_text("<script>alert(1)</script> and a")
    expect(text).to_contain_text("Title <img src=x onerror=alert(1)>")
    expect(text.locator("img, script")).to_have_count(0)
    links = text.get_by_role("link")
    expect(links).to_have_count(1)
    expect(links).to_have_attribute("href", "https://example.org/")
    expect(links).to_have_attribute("rel", re.compile("noreferrer"))
    expect(page.get_by_text("There are no pictures of pages")).to_be_visible()
    expect(text.get_by_role("columnheader", name="Name")).to_be_visible()


def test_a_document_of_a_thousand_pages_is_leafed_through_in_parts(
    page: Page, add_file: AddFile
) -> None:
    pages = [Sheet(content=at(60, 700, f"Page number {number} of many")) for number in range(1000)]
    long = add_file("long.pdf", document(*pages))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    page.goto(address(long, page=900))

    expect(page.get_by_text("Page number 899 of many").first).to_be_visible()
    expect(page.get_by_role("button", name="Page 900: text")).to_be_visible()
    assert page.locator(".page-cell").count() < 120
    assert len([url for url in asked if url.split("?")[0].endswith(".png")]) == 1
    page.get_by_label("Go to page").fill("12")
    page.get_by_label("Go to page").press("Enter")
    expect(page.get_by_text("Page number 11 of many").first).to_be_visible()


def test_a_link_to_a_passage_that_is_gone_says_so(page: Page, report: Any) -> None:
    page.goto(address(report, chunk="00000000-0000-7000-8000-000000000000"))
    expect(page.get_by_text("This passage does not exist any more")).to_be_visible()
    expect(page.get_by_text("Page 1 of 6")).to_be_visible()


def test_a_viewer_on_a_narrow_screen_sees_one_pane_at_a_time(
    open_browser: OpenBrowser, viewer_key: str, report: Any, chunks: Any
) -> None:
    page = sign_in(open_browser(viewport={"width": 400, "height": 800}), viewer_key)
    page.goto(address(report, chunk=chunks[0]["id"]))
    expect(marked(page).first).to_be_attached()
    expect(page.locator(".text-pane")).to_be_hidden()
    page.get_by_role("button", name="Chunks", exact=True).click()
    expect(chunk_button(page, chunks[0])).to_be_visible()
    expect(page.locator(".page-pane")).to_be_hidden()


def test_it_has_no_grave_faults_of_accessibility(page: Page, report: Any, chunks: Any) -> None:
    page.goto(address(report, chunk=chunks[0]["id"]))
    expect(marked(page).first).to_be_attached()
    check_accessibility(page)


def test_other_chunk_settings_are_tried_beside_the_stored_chunks(
    page: Page, report: Any, chunks: Any, service: Service
) -> None:
    page.goto(address(report))
    page.get_by_role("button", name="Other settings").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Tokens per chunk").fill("10")
    dialog.get_by_role("button", name="Preview").click()
    expect(dialog.locator(".field-error")).to_be_visible()

    dialog.get_by_label("Tokens per chunk").fill("256")
    dialog.get_by_role("button", name="Preview").click()
    stored = dialog.get_by_role("region", name="As stored")
    other = dialog.get_by_role("region", name="With these settings")
    on_first = [chunk for chunk in chunks if chunk["page"] == 1]
    expect(stored).to_contain_text(f"{len(chunks)} chunks")
    expect(stored.get_by_role("listitem")).to_have_count(len(on_first))
    larger = other.get_by_role("listitem")
    expect(larger.first).to_contain_text(on_first[0]["content"].split("\n")[-1][:60])
    assert larger.count() < len(on_first)
    check_accessibility(page)
    assert service.get(f"/api/documents/{report['id']}/chunks", limit=200)["items"] == chunks


def test_a_viewer_tries_no_settings(viewer_page: Page, report: Any) -> None:
    viewer_page.goto(address(report))

    expect(viewer_page.get_by_role("heading", name="Chunks")).to_be_visible()
    expect(viewer_page.get_by_role("button", name="Other settings")).to_have_count(0)
