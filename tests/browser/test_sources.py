"""The lists of sources and one source: found, mended, changed together, and followed live."""

import re
from typing import Final

import pytest
from playwright.sync_api import FilePayload, Page, Request, WebSocketRoute, expect

from harness.service import Service
from tests.browser.accessibility import check_accessibility
from tests.browser.watch import NO_NETWORK, Problems
from tests.builders.make_archives import zip_of

MARKUP: Final = "<img src=x onerror=alert(1)>.txt"
RTL: Final = "דוח שנתי (סופי).txt"
LONG: Final = "/".join(["ü" * 60] * 30) + ".txt"
BROKEN: Final = ("broken.pdf", b"%PDF-1.4 no")


@pytest.fixture(scope="module")
def filled(service: Service) -> Service:
    """With files of all kinds, read."""
    files = [(f"docs/{n}.md", f"# Part {n}\n\nwords of {n}".encode()) for n in range(5)]
    hostile = [(name, name.encode()) for name in (MARKUP, RTL, "🦊.txt", LONG)]
    service.upload([*files, *hostile, BROKEN])
    service.wait_until_terminal(service.get("/api/me")["application"]["id"])
    return service


def source_id(service: Service, uri: str) -> str:
    [source] = service.get("/api/knowledge-sources", uri=uri)["items"]
    return str(source["id"])


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
