"""The main job from end to end: by keyboard alone, and in another language than the service's."""

from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Locator, Page, expect

from harness.service import KEY, Service, until
from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import OpenBrowser, sign_in

TEXT: Final = "# Kiln\n\nThe kiln of the pottery is fired on Thursdays with beech wood.\n"
FILES: Final = {
    "kiln.md": TEXT.encode(),
    "broken.pdf": b"%PDF-1.4 no",
    "cut.json": b'{"kiln": "fired on Thur',
}
MOST_STOPS: Final = 80


@pytest.fixture
def folder(tmp_path: Path) -> list[Path]:
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    return [tmp_path / name for name in FILES]


def tab_to(page: Page, target: Locator) -> None:
    """Press Tab until the keyboard is there."""
    expect(target).to_be_visible()
    focused = target.and_(page.locator(":focus"))
    for _ in range(MOST_STOPS):
        if focused.count():
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"not reached in {MOST_STOPS} stops: {target}")


def test_upload_mend_search_and_open_by_keyboard_alone(
    page: Page, service: Service, folder: list[Path]
) -> None:
    # Listening from here on, or the first file chooser may open before it is waited for.
    page.on("filechooser", lambda _: None)
    page.goto("#/upload")
    tab_to(page, page.get_by_role("button", name="Choose files"))
    with page.expect_file_chooser() as chooser:
        page.keyboard.press("Enter")
    chooser.value.set_files(folder)
    tab_to(page, page.get_by_role("button", name="Upload 3 files"))
    page.keyboard.press("Enter")

    tab_to(page, page.get_by_role("link", name="Show what failed"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Sources", level=1)).to_be_focused()
    expect(page.get_by_role("row", name="broken.pdf")).to_contain_text("The file is damaged.")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("The file is damaged.")
    tab_to(page, page.get_by_role("button", name="Retry"))
    page.keyboard.press("Enter")
    expect(page.get_by_text("It was queued again.")).to_be_visible()
    until(lambda: service.search("when is the kiln fired"))

    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("when is the kiln fired")
    page.keyboard.press("Enter")
    hit = page.get_by_role("listitem").filter(has_text="beech wood")
    tab_to(page, hit.get_by_role("button", name="Copy link"))
    tab_to(page, hit.get_by_role("button", name="Relevant", exact=True))
    tab_to(page, hit.get_by_role("link", name="Open in document"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Kiln", level=1)).to_be_focused()
    expect(page.locator("[aria-pressed=true]").filter(has_text="beech wood")).to_be_visible()


def test_what_failed_is_named_where_a_search_finds_nothing(page: Page) -> None:
    page.goto("#/search?q=%22zyzzyva+quokka%22&mode=keyword")
    expect(page.get_by_text("What waits or has failed may be missing: 1 failed")).to_be_visible()
    page.get_by_role("link", name="1 failed").click()
    expect(page.get_by_role("row", name="broken.pdf")).to_be_visible()


def test_a_german_page_speaks_german_of_failures_and_warnings(
    open_browser: OpenBrowser, service: Service
) -> None:
    page = sign_in(open_browser(locale="de-DE"), KEY)
    page.goto("#/batches")
    page.locator("tbody a").first.click()
    expect(page.get_by_role("row", name="broken.pdf")).to_contain_text("Die Datei ist beschädigt.")
    page.get_by_role("link", name="broken.pdf").click()

    card = page.get_by_role("alert")
    expect(card).to_contain_text("Die Datei ist beschädigt.")
    said = card.locator(".detail")
    expect(said).to_be_hidden()
    check_accessibility(page)
    card.get_by_text("Technische Einzelheiten").click()
    expect(said).to_contain_text("damaged")
    expect(said).to_have_attribute("lang", "en")

    [source] = service.get("/api/knowledge-sources", uri="cut.json")["items"]
    page.goto(f"#/sources/{source['id']}")
    expect(
        page.get_by_text("Es ist kein gültiges JSON; es wurde als Text gelesen.")
    ).to_be_visible()
    page.goto("#/sources?metadata=x")
    expect(page.get_by_role("alert")).to_contain_text("Feld")
