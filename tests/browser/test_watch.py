"""The watch over the other tests of this folder sees what it is for."""

import re
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from api.dashboard.files import POLICY
from harness.patience import BROWSER_PATIENCE
from tests.browser.accessibility import THEMES, axe, check_accessibility
from tests.browser.watch import Problems

Show = Callable[..., None]


@pytest.fixture
def show(page: Page) -> Show:
    """Shows markup instead of the dashboard, with the dashboard's content policy."""

    def show(body: str, script: str = "") -> None:
        headers = {"Content-Type": "text/html", "Content-Security-Policy": POLICY}
        markup = f"<!doctype html><html lang=en><title>t</title>{body}"
        if script:
            markup += '<script src="made-up.js"></script>'
        kind = {"Content-Type": "text/javascript"}
        page.route("**/made-up.js", lambda route: route.fulfill(body=script, headers=kind))
        page.route("**/made-up", lambda route: route.fulfill(body=markup, headers=headers))
        page.goto("made-up")

    return show


@pytest.mark.parametrize(
    ("body", "script", "seen"),
    [
        ("<script>1</script>", "", "violates script-src-elem"),
        ('<p style="color: red">x', "", "violates style-src-attr"),
        ('<p onclick="1">x', "", "violates script-src-attr"),
        ("", "eval('1')", "violates require-trusted-types-for"),
        (
            "",
            "document.documentElement.innerHTML = ''",
            "violates require-trusted-types-for",
        ),
        ("", "new Worker('made-up-worker.js')", "violates require-trusted-types-for"),
        ('<img src="https://elsewhere.example/x.png">', "", "violates img-src"),
        ("", "fetch('https://elsewhere.example/')", "violates connect-src"),
        ("", "new WebSocket('ws://elsewhere.example/')", "violates connect-src"),
        ("", "console.error('oh no')", "console: oh no"),
        ("", "setTimeout(() => { throw new Error('oh no') })", "uncaught: .*oh no"),
        ("", "Promise.reject(new Error('oh no'))", "uncaught: .*oh no"),
        ("", "fetch('assets/missing.json')", "404: .*/assets/missing.json"),
        ('<a href="https://elsewhere.example/">x</a>', "document.links[0].click()", "request to"),
    ],
)
def test_it_sees(
    show: Show, page: Page, problems: Problems, body: str, script: str, seen: str
) -> None:
    show(body, script)
    deadline = time.monotonic() + BROWSER_PATIENCE
    while not any(re.search(seen, problem) for problem in problems.seen):
        assert time.monotonic() < deadline, problems.seen
        page.wait_for_timeout(10)

    with pytest.raises(AssertionError):
        problems.check()
    problems.seen.clear()


def test_it_sees_nothing_in_a_page_without_fault(show: Show, page: Page) -> None:
    show("<main><h1>Fine</h1></main>", "document.title = 'fine'")

    page.get_by_role("heading", name="Fine").wait_for()
    check_accessibility(page)


def test_axe_sees_serious_faults(show: Show, page: Page) -> None:
    show('<main><h1>Fine</h1><span role="img"></span><button></button></main>')

    seen = [tuple(fault.split(": ")[:2]) for fault in axe(page)]

    rules = ("button-name", "role-img-alt")
    assert seen == [(theme, rule) for theme in THEMES for rule in rules]
