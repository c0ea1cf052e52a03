"""Upload of a folder of 4,000 files: killed halfway, resumed, and reported file by file."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Request, Route, expect

from harness.service import KEY, Service
from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import PLAIN_HOST, OpenBrowser, sign_in
from tests.browser.watch import Problems

FILES = 4000
# The tests are about sending; the worker would only take the processor away.
SETTINGS = {"INGEST_WORKER": "false"}
_COUNT_DRAWS = """
window.draws = 0;
const isInList = ({ target }) => target.parentElement?.closest(".upload-list");
new MutationObserver((changes) => {
  if (changes.some(isInList)) window.draws += 1;
}).observe(document, { subtree: true, childList: true, characterData: true });
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chosen") / "papers"
    for part in range(40):
        (folder / f"part {part}").mkdir(parents=True)
    for number in range(FILES - 3):
        (folder / f"part {number % 40}" / f"{number}.txt").write_text(f"paper {number}")
    (folder / "<img src=x onerror=alert(1)>.txt").write_text("hostile")
    (folder / "\u202eتقرير 📄.txt").write_text("right to left")
    (folder / "copy.txt").write_text("paper 7")
    return folder


def choose(page: Page, path: Path) -> None:
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a folder").click()
    chooser.value.set_files(path)


def drop(page: Page, path: Path) -> None:
    """As by a mouse that comes from the window of another program."""
    box = page.locator(".drop-zone").bounding_box()
    assert box is not None
    place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
    protocol = page.context.new_cdp_session(page)
    for step in ("dragEnter", "dragOver", "drop"):
        protocol.send("Input.dispatchDragEvent", {"type": step, "data": data, **place})
    protocol.detach()


def in_page(page: Page, expression: str) -> Any:
    """By the protocol of the browser: `evaluate` is an eval, which the content policy forbids."""
    protocol = page.context.new_cdp_session(page)
    answer = protocol.send("Runtime.evaluate", {"expression": expression, "returnByValue": True})
    protocol.detach()
    return answer["result"]["value"]


def watch(context: BrowserContext) -> Callable[[str], int]:
    """Counts requests by a regular expression of method and path."""
    seen: list[str] = []

    def note(request: Request) -> None:
        seen.append(f"{request.method} {request.url.partition('/api/')[1]}{request.url}")

    context.on("request", note)
    return lambda pattern: sum(re.search(pattern, line) is not None for line in seen)


def stop_after(context: BrowserContext, parts: int) -> list[Route]:
    """Let so many parts of an upload through, and hold the others."""
    held: list[Route] = []
    passed = 0

    def hold(route: Route) -> None:
        nonlocal passed
        passed += 1
        if passed <= parts:
            route.continue_()
        else:
            held.append(route)

    context.route("**/upload/documents", hold)
    return held


def test_folder_of_4000_files_is_resumed_and_its_report_adds_up(
    open_browser: OpenBrowser, service: Service, folder: Path
) -> None:
    context = open_browser()
    context.add_init_script(_COUNT_DRAWS)
    requests = watch(context)
    first = sign_in(context, KEY)
    held = stop_after(context, 8)
    first.goto("#/upload")
    choose(first, folder)
    first.get_by_role("button", name=re.compile("Upload 4,000 files")).click()
    while len(held) < 3:
        first.wait_for_timeout(20)
    first.close(run_before_unload=False)  # the tab is killed
    context.unroute("**/upload/documents")

    second = context.new_page()
    second.goto("#/upload")
    expect(second.get_by_text("was interrupted")).to_be_visible()
    choose(second, folder)
    chosen_at = in_page(second, "performance.now()")
    second.get_by_role("button", name=re.compile("Upload 4,000 files")).click()
    expect(second.get_by_role("heading", name="All files are sent")).to_be_visible()

    expect(second.get_by_text("4,000 files in the report")).to_be_visible()
    [batch] = {source["batchId"] for source in service.get("/api/knowledge-sources")["items"]}
    report = service.get(f"/api/batches/{batch}/report")
    paths = [file["path"] for file in report["files"]]
    assert (len(paths), len(set(paths)), report["total"]) == (FILES, FILES, FILES)
    assert report["accepted"] + report["unchanged"] + report["duplicate"] == FILES
    assert requests("GET .*/api/knowledge-sources") <= 40
    # 20 parts, and three that were held with the killed tab.
    assert requests("POST .*/upload/documents") <= 24
    known = re.compile(r"already there [12],\d\d\d")
    expect(second.get_by_role("button", name=known)).to_be_visible()
    # Neither the rows out of sight nor each event are drawn.
    assert 0 < second.locator("tr[aria-rowindex]").count() < 50
    seconds = (in_page(second, "performance.now()") - chosen_at) / 1000
    assert 0 < in_page(second, "draws") <= 4 * seconds + 10


def test_hostile_names_are_text_and_verdicts_have_reasons(
    page: Page, folder: Path, tmp_path: Path
) -> None:
    chosen = tmp_path / "hostile"
    chosen.mkdir()
    for file in (path for path in folder.iterdir() if path.is_file()):
        (chosen / file.name).write_bytes(file.read_bytes())
    (chosen / "empty.txt").write_bytes(b"")
    page.goto("#/upload")
    choose(page, chosen)
    page.get_by_role("button", name=re.compile("Upload 4 files")).click()

    expect(page.get_by_role("heading", name="All files are sent")).to_be_visible()
    expect(page.get_by_text("hostile/<img src=x onerror=alert(1)>.txt")).to_be_visible()
    check_accessibility(page)


def test_an_upload_waits_for_a_service_that_is_away(page: Page, tmp_path: Path) -> None:
    (tmp_path / "late.txt").write_text("late")
    is_away = True

    def answer(route: Route) -> None:
        if is_away:
            route.fulfill(status=503, headers={"Retry-After": "60"}, json={"code": "overloaded"})
        else:
            route.continue_()

    page.context.route("**/upload/documents", answer)
    page.goto("#/upload")
    choose(page, tmp_path)
    page.get_by_role("button", name="Upload 1 file").click()
    expect(page.get_by_text(re.compile("The next try is in"))).to_be_visible()
    is_away = False
    page.get_by_role("button", name="Try now").click()

    expect(page.get_by_role("heading", name="All files are sent")).to_be_visible()


def test_viewer_is_told_that_the_key_may_not_upload(viewer_page: Page) -> None:
    viewer_page.goto("#/upload")

    expect(viewer_page.get_by_text("Your key may not upload")).to_be_visible()
    expect(viewer_page.get_by_role("button", name="Choose a folder")).to_have_count(0)


def test_rows_follow_their_files_to_the_verdict(page: Page, tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.md").write_text(f"leaflet {number}")
    page.goto("#/upload")
    choose(page, tmp_path)
    page.get_by_role("button", name="Upload 3 files").click()
    expect(page.get_by_role("heading", name="All files are sent")).to_be_visible()
    rows = page.get_by_role("region", name="Files of this upload").locator("tr[aria-rowindex]")
    expect(rows).to_have_count(3)
    expect(rows.filter(has_text="accepted")).to_have_count(3)
    rows.first.get_by_role("link").click()
    expect(page).to_have_url(re.compile("#/sources/"))


def test_a_folder_is_dropped_with_all_that_is_in_it(
    page: Page, service: Service, tmp_path: Path
) -> None:
    folder = tmp_path / "dropped"
    # A browser names about 100 entries at a time.
    for name in [*(f"many/{number}.txt" for number in range(130)), "a/b/deep.txt", "top.txt"]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{name} was dropped")
    page.goto("#/upload")
    drop(page, folder)
    page.get_by_role("button", name="Upload 132 files").click()

    expect(page.get_by_role("heading", name="All files are sent")).to_be_visible()
    found = service.pages("/api/knowledge-sources", q="dropped/")
    assert {source["uri"] for source in found} == {
        file.relative_to(tmp_path).as_posix() for file in folder.rglob("*.txt")
    }


def test_what_was_sent_is_known_by_its_hash_on_plain_http(
    open_browser: OpenBrowser, service: Service, problems: Problems, tmp_path: Path
) -> None:
    """Where browsers have no SHA-256: there the page has its own."""
    (tmp_path / "empty lines.txt").write_text("\n" * 1000 + "end")
    (tmp_path / "long.txt").write_bytes(bytes(range(32, 127)) * 10_000)
    (tmp_path / "short.txt").write_text("üüü")
    problems.allow("Cross-Origin-Opener-Policy header has been ignored")
    problems.origins.add(f"http://{PLAIN_HOST}:{service.port}")
    context = open_browser(base_url=f"http://{PLAIN_HOST}:{service.port}/")
    requests = watch(context)
    page = context.new_page()
    page.goto("#/upload")
    page.get_by_label("API key").fill(KEY)
    page.keyboard.press("Enter")
    for verdict in ("accepted 3", "already there 3"):
        choose(page, tmp_path)
        page.get_by_role("button", name="Upload 3 files").click()
        expect(page.get_by_role("button", name=verdict)).to_be_visible()
        page.get_by_role("button", name="Upload more").click()

    assert in_page(page, "isSecureContext") is False
    assert requests("POST .*/upload/documents") == 1
