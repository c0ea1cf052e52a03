"""One source: what its page shows and changes, followed live."""

import re

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from harness.service import Service
from tests.browser.accessibility import check_accessibility
from tests.browser.filled_sources import LONG, MARKUP, RTL, fill, source_id
from tests.browser.watch import NO_NETWORK, Problems


@pytest.fixture(scope="module")
def filled(service: Service) -> Service:
    """With files of all kinds, read."""
    fill(service)
    return service


def test_everything_known_of_a_source_is_on_its_page(page: Page, filled: Service) -> None:
    id = source_id(filled, "docs/1.md")
    page.goto(f"#/sources/{id}")
    for stage in ("extract", "chunk", "embed", "store"):
        item = page.locator(".stages li", has_text=stage)
        expect(item).to_contain_text("done")
    expect(page.get_by_text("Attempt 1")).to_be_visible()
    expect(page.get_by_role("listitem").filter(has_text="1 page with text")).to_be_visible()
    for tab, text in (
        ("Documents", "Part 1"),
        ("Chunks", "words of 1"),
        ("Events", "done"),
        ("Jobs and log", "embed done"),
        ("Settings", "tokens,"),
    ):
        page.get_by_role("tab", name=tab).click()
        expect(page.get_by_role("tabpanel")).to_contain_text(text)
        check_accessibility(page)
    page.get_by_role("tab", name="Documents").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the original").click()
    assert download.value.path().read_bytes() == b"# Part 1\n\nwords of 1"


def test_a_stored_file_is_read_again(page: Page, filled: Service) -> None:
    id = source_id(filled, "docs/4.md")
    before = filled.get(f"/api/knowledge-sources/{id}")
    page.goto(f"#/sources/{id}")
    page.get_by_role("button", name="Read again").click()
    expect(page.get_by_text("It was queued again.")).to_be_visible()
    filled.wait_until_terminal(id)
    expect(page.get_by_role("button", name="Read again")).to_be_visible()

    after = filled.get(f"/api/knowledge-sources/{id}")
    assert after["status"] == "completed"
    assert after["jobId"] != before["jobId"]
    assert after["chunkCount"] == before["chunkCount"]


def test_name_metadata_and_chunk_settings_are_changed(page: Page, filled: Service) -> None:
    id = source_id(filled, "docs/2.md")
    page.goto(f"#/sources/{id}?tab=settings")
    page.get_by_role("textbox", name="Name").fill("The second")
    page.get_by_role("textbox", name="Metadata").fill("team=a\nyear=2024\nnonsense")
    identity = page.locator("form").first
    identity.get_by_role("button", name="Save").click()
    expect(page.get_by_text("“nonsense” is not key=value")).to_be_visible()
    page.get_by_role("textbox", name="Metadata").fill("team=a\nyear=2024")
    identity.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="The second")).to_be_visible()
    page.get_by_label("Tokens per chunk").fill("99999999")
    chunking = page.locator("form").nth(1)
    chunking.get_by_role("button", name="Save").click()
    expect(chunking.get_by_role("alert")).to_contain_text("invalid_request")
    page.get_by_label("Tokens per chunk").fill("128")
    chunking.get_by_role("button", name="Save").click()
    expect(page.get_by_text("In force: 128 tokens")).to_be_visible()

    source = filled.get(f"/api/knowledge-sources/{id}")
    assert source["metadata"] == {"team": "a", "year": 2024}


def test_hostile_names_are_text(page: Page, filled: Service) -> None:
    for uri in (MARKUP, RTL, "🦊.txt", LONG):
        page.goto(f"#/sources/{source_id(filled, uri)}")
        expect(page.get_by_role("heading", level=1)).to_have_text(uri.split("/")[-1])
        page.goto(f"#/jobs?knowledgeSourceId={source_id(filled, uri)}")
        expect(page.locator("tbody tr")).to_have_count(1)
        box = page.get_by_role("table").bounding_box()
        assert box is not None
        assert box["width"] <= 1280
        assert page.locator("main img").count() == 0


def test_a_viewer_sees_everything_but_buttons(viewer_page: Page, filled: Service) -> None:
    id = source_id(filled, "broken.pdf")
    viewer_page.goto("#/sources")
    expect(viewer_page.locator("tbody tr")).to_have_count(10)
    assert viewer_page.get_by_label("Bulk action").count() == 0
    viewer_page.goto(f"#/sources/{id}")
    expect(viewer_page.get_by_role("alert")).to_contain_text("corrupt")
    for name in ("Retry", "Delete", "Upload another version"):
        assert viewer_page.get_by_role("button", name=name).count() == 0
        assert viewer_page.get_by_role("link", name=name).count() == 0
    viewer_page.goto(f"#/sources/{id}?tab=settings")
    expect(viewer_page.get_by_text("In force:")).to_be_visible()
    assert viewer_page.get_by_role("button", name="Save").count() == 0

    headers = {"X-Ingest-Csrf": "1", "Sec-Fetch-Site": "same-origin"}
    body = {"action": "delete", "filter": {}}
    for path, data in (
        ("api/knowledge-sources/bulk", body),
        ("api/jobs/bulk", body),
        (f"api/knowledge-sources/{id}/retry", None),
    ):
        answer = viewer_page.context.request.post(path, data=data, headers=headers)
        assert (answer.status, answer.json()["code"]) == (403, "forbidden")


def events_shown(page: Page) -> list[int]:
    return [int(cell.inner_text()) for cell in page.locator("tbody td:first-child").all()]


class Cut:
    """The network between a page and the service, which can be cut: what is sent then is lost."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._is_cut = False
        self._open: list[WebSocketRoute] = []
        page.route_web_socket(re.compile("/api/ws"), self._connect)

    def _connect(self, socket: WebSocketRoute) -> None:
        if self._is_cut:
            socket.close()
        else:
            socket.connect_to_server()
            self._open.append(socket)

    def __enter__(self) -> None:
        self._is_cut = True
        self._page.context.set_offline(True)
        for socket in self._open:
            socket.close()

    def __exit__(self, *_: object) -> None:
        self._is_cut = False
        self._page.context.set_offline(False)


def test_no_event_is_lost_or_doubled_by_a_cut_network(
    page: Page, filled: Service, problems: Problems
) -> None:
    problems.allow(NO_NETWORK)
    cut = Cut(page)
    id = source_id(filled, "docs/3.md")
    page.goto(f"#/sources/{id}?tab=events")
    expect(page.locator("tbody tr").first).to_be_visible()
    rename(filled, id, 1)
    with cut:
        expect(page.get_by_text("Live", exact=True)).to_have_count(0)
        for number in range(2, 8):
            rename(filled, id, number)
    rename(filled, id, 8)

    last = filled.get(f"/api/knowledge-sources/{id}")["eventSeq"]
    expect(page.locator("tbody td:first-child").first).to_have_text(str(last))
    expect(page.locator("tbody tr")).to_have_count(last)
    assert events_shown(page) == list(range(last, 0, -1))


def rename(service: Service, id: str, number: int) -> None:
    body = {"name": f"name {number}"}
    service.http.patch(f"/api/knowledge-sources/{id}", json=body).raise_for_status()


def test_the_page_recovers_by_itself_when_the_service_is_restarted(
    page: Page, filled: Service, problems: Problems
) -> None:
    problems.allow(NO_NETWORK)
    page.goto("#/sources?q=docs/")
    expect(page.locator("tbody tr")).to_have_count(5)
    filled.kill()
    expect(page.get_by_role("button", name="Try now")).to_be_visible()
    filled.restart()
    filled.wait_until_ready()
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    filled.http.patch(
        f"/api/knowledge-sources/{source_id(filled, 'docs/4.md')}", json={"name": "After it"}
    ).raise_for_status()
    expect(page.get_by_text("After it")).to_be_visible()
