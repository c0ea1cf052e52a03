"""The frame of every screen: sign-in, navigation, keyboard, themes, languages, lost connections."""

import re
from typing import Any, Final

import pytest
from playwright.sync_api import Locator, Page, expect

from harness.service import KEY, Service
from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import SIGN_IN, OpenBrowser
from tests.browser.watch import NO_NETWORK, Problems

SOURCES: Final = "#/sources"


def key_field(page: Page) -> Locator:
    return page.get_by_label("API key")


def heading(page: Page, name: str = "Sources") -> Locator:
    return page.get_by_role("heading", name=name, level=1)


@pytest.fixture
def stranger(open_browser: OpenBrowser) -> Page:
    """A page of somebody who has not signed in."""
    return open_browser().new_page()


@pytest.fixture(scope="module")
def other_application(service: Service) -> Any:
    answer = service.http.post("/api/applications", json={"name": "Second"})
    return answer.raise_for_status().json()


def test_a_key_signs_in_and_is_stored_nowhere(stranger: Page) -> None:
    stranger.goto("")
    expect(key_field(stranger)).to_be_focused()
    key_field(stranger).fill("rk_wrong")
    stranger.keyboard.press("Enter")
    expect(stranger.get_by_role("alert")).to_contain_text("unauthorized")

    key_field(stranger).fill(f" {KEY}\n")
    stranger.get_by_role("button", name="Sign in").click()
    expect(heading(stranger, "Overview")).to_be_visible()

    state = stranger.context.storage_state()
    assert KEY not in str(state)
    assert [(cookie["httpOnly"], cookie["sameSite"]) for cookie in state["cookies"]] == [
        (True, "Strict")
    ]


def test_signing_out_ends_the_session(page: Page) -> None:
    page.goto(SOURCES)
    page.get_by_role("button", name="Account").click()
    page.get_by_role("button", name="Sign out").click()
    expect(key_field(page)).to_be_visible()

    page.reload()
    expect(key_field(page)).to_be_visible()


def test_a_link_signs_in_once_and_leaves_the_address(
    stranger: Page, service: Service, open_browser: OpenBrowser
) -> None:
    code = service.http.post("/api/session/codes").raise_for_status().json()["code"]
    stranger.goto(f"#login={code}")
    expect(heading(stranger, "Overview")).to_be_visible()
    expect(stranger).to_have_url(f"{service.url}/#/")

    second = open_browser().new_page()
    second.goto(f"#login={code}")
    alert = second.get_by_role("alert")
    expect(alert).to_contain_text("This sign-in link was used already, or has expired.")
    expect(alert.get_by_role("button", name="Try again")).to_have_count(0)
    expect(second).to_have_url(f"{service.url}/#/")
    key_field(second).fill("rk_wrong")
    second.keyboard.press("Enter")
    expect(alert).to_have_text(re.compile("This key or session is not valid"))


def test_a_link_works_where_the_page_is_open(viewer_page: Page, service: Service) -> None:
    viewer_page.goto(SOURCES)
    expect(viewer_page.get_by_text("Live", exact=True)).to_be_visible()
    code = service.http.post("/api/session/codes").raise_for_status().json()["code"]
    viewer_page.goto(f"#login={code}")

    expect(viewer_page.get_by_role("combobox", name="Application")).to_be_visible()
    expect(viewer_page).to_have_url(f"{service.url}/#/")
    expect(viewer_page.get_by_text("Live", exact=True)).to_be_visible()


def test_who_signs_in_again_is_where_the_session_ended(page: Page) -> None:
    page.goto(f"{SOURCES}?status=failed")
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    page.context.request.delete("api/session", headers=SIGN_IN)

    expect(page.get_by_text("Your session has ended")).to_be_visible()
    key_field(page).fill(KEY)
    page.keyboard.press("Enter")
    expect(heading(page)).to_be_visible()
    expect(page.get_by_label("State", exact=True)).to_have_value("failed")


def test_the_state_of_a_list_is_its_address(page: Page) -> None:
    page.goto(SOURCES)
    page.get_by_label("State", exact=True).select_option("failed")
    page.get_by_label("Type", exact=True).select_option("site")
    expect(page).to_have_url(re.compile(r"#/sources\?status=failed&type=site$"))

    page.go_back()
    expect(page.get_by_label("Type", exact=True)).to_have_value("")
    expect(page.get_by_label("State", exact=True)).to_have_value("failed")
    page.get_by_role("button", name="Remove the filter “State”").click()
    expect(page).to_have_url(re.compile(r"#/sources$"))


def test_another_screen_gets_title_and_focus(page: Page) -> None:
    page.goto(SOURCES)
    expect(page).to_have_title("Sources · rag-ingest")
    page.goto("#/nowhere")
    expect(heading(page, "There is nothing here")).to_be_focused()
    expect(page).to_have_title("There is nothing here · rag-ingest")

    page.keyboard.press("g")
    page.keyboard.press("s")
    expect(heading(page)).to_be_focused()


def test_the_first_stop_of_the_keyboard_leads_to_the_content(page: Page) -> None:
    page.goto(SOURCES)
    expect(heading(page)).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()


def test_shortcuts_are_explained_and_do_not_disturb_typing(page: Page) -> None:
    page.goto(SOURCES)
    expect(heading(page)).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("go to Sources")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)

    page.get_by_role("combobox", name="Application").focus()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_theme_and_language_are_kept(page: Page) -> None:
    page.emulate_media(color_scheme="light")
    page.goto(SOURCES)
    page.get_by_role("button", name="Account").click()
    page.get_by_role("button", name="Dark").click()
    page.get_by_label("Language").select_option("de")
    expect(heading(page, "Quellen")).to_be_visible()

    page.reload()
    expect(heading(page, "Quellen")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.locator("html")).to_have_css("color-scheme", "dark")
    expect(page.locator("html")).to_have_css("background-color", "rgb(17, 20, 19)")


def test_the_operator_changes_the_application(page: Page, other_application: Any) -> None:
    page.goto(f"{SOURCES}?status=failed")
    switch = page.get_by_role("combobox", name="Application")
    switch.select_option("Second")
    expect(page).to_have_url(re.compile(rf"app={other_application['id']}"))

    page.reload()
    expect(switch).to_have_value(other_application["id"])
    with page.expect_request("**/api/knowledge-sources*") as asked:
        page.get_by_label("Type", exact=True).select_option("file")
    assert asked.value.headers["x-application-id"] == other_application["id"]
    expect(page.get_by_text("Live", exact=True)).to_be_visible()


def test_an_application_that_does_not_exist_leaves_the_address(page: Page) -> None:
    page.goto(f"{SOURCES}?app=00000000-0000-0000-0000-000000000000")

    expect(heading(page)).to_be_visible()
    expect(page).to_have_url(re.compile(r"#/sources$"))


def test_a_viewer_has_one_application(viewer_page: Page) -> None:
    viewer_page.goto(SOURCES)
    expect(heading(viewer_page)).to_be_visible()
    expect(viewer_page.get_by_role("combobox", name="Application")).to_have_count(0)

    entries = viewer_page.get_by_role("navigation").get_by_role("link")
    expect(entries.filter(has_text="Search")).to_have_count(1)
    for name in ("Add web pages", "Webhooks", "Applications & keys"):
        expect(entries.filter(has_text=name)).to_have_count(0)
    viewer_page.get_by_role("button", name="Account").click()
    expect(viewer_page.get_by_text("Role: viewer")).to_be_visible()


def test_on_a_narrow_page_the_navigation_is_a_drawer(page: Page) -> None:
    page.set_viewport_size({"width": 400, "height": 700})
    page.goto(SOURCES)
    link = page.get_by_role("navigation", name="Screens").get_by_role("link", name="Sources")
    expect(heading(page)).to_be_visible()
    expect(link).to_be_hidden()
    opener = page.get_by_role("button", name="Show the navigation")
    opener.click()
    expect(link).to_be_focused()
    page.keyboard.press("Escape")

    expect(link).to_be_hidden()
    expect(opener).to_be_focused()


def test_every_part_is_accessible(page: Page, stranger: Page) -> None:
    stranger.goto("")
    expect(key_field(stranger)).to_be_visible()
    check_accessibility(stranger)

    page.goto(f"{SOURCES}?status=failed&cursor=wrong")
    expect(page.get_by_role("alert")).to_contain_text("invalid_cursor")
    page.get_by_role("button", name="Account").click()
    check_accessibility(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("No source matches these filters")).to_be_visible()
    page.keyboard.press("?")
    check_accessibility(page)


def test_the_page_outlives_a_restart_of_the_service(
    page: Page, service: Service, problems: Problems
) -> None:
    problems.allow(NO_NETWORK)
    page.goto(SOURCES)
    live = page.get_by_text("Live", exact=True)
    expect(live).to_be_visible()
    service.kill()
    expect(page.get_by_text("The service does not answer.").first).to_be_visible()
    expect(page.get_by_text("Reconnecting", exact=True)).to_be_visible()

    service.restart()
    service.wait_until_ready()
    expect(live).to_be_visible()
    expect(page.get_by_text("The service does not answer.")).to_have_count(0)
    expect(page.get_by_role("alert")).to_have_text([])
