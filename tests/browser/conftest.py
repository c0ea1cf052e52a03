"""The dashboard in a real browser: one service, with Postgres, and one Chromium for each file.

A file that needs settings of the service has them in `SETTINGS`. Tests are not `async`: Playwright
has a loop of its own.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from harness.patience import BROWSER_PATIENCE
from harness.service import KEY, Service, services
from tests.browser.watch import Problems
from tests.conftest import CHROMIUM, EMPTY

SIGN_IN = {"Sec-Fetch-Site": "same-origin", "X-Ingest-Csrf": "1"}

PLAIN_HOST = "service.test"
"""This host by a name that browsers do not trust without https, unlike `localhost`."""

OpenBrowser = Callable[..., BrowserContext]
"""A browser without cookies; keywords are those of Playwright's `new_context`."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if CHROMIUM is None:
        here = f"{__package__}."
        for item in items:
            if isinstance(item, pytest.Function) and item.module.__name__.startswith(here):
                item.add_marker(pytest.mark.skip(reason="there is no Chromium"))


@pytest.fixture(scope="module")
def service(
    request: pytest.FixtureRequest, server: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    """`ingest serve` on an empty database, for the file."""
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(EMPTY)
    settings: dict[str, str] = getattr(request.module, "SETTINGS", {})
    with services(
        data=tmp_path_factory.mktemp("data"), env={"DATABASE_URL": server, **settings}
    ) as start:
        yield start("serve").wait_until_ready()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    expect.set_options(timeout=BROWSER_PATIENCE * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=[f"--host-resolver-rules=MAP {PLAIN_HOST} 127.0.0.1"]
        )
        yield browser
        browser.close()


@pytest.fixture
def problems(service: Service) -> Iterator[Problems]:
    """What goes wrong in the pages of a test, which fails of it; see tests/browser/watch.py."""
    problems = Problems(origin=service.url)
    yield problems
    problems.check()


@pytest.fixture
def open_browser(chromium: Browser, service: Service, problems: Problems) -> Iterator[OpenBrowser]:
    """Opens browsers that know nothing of each other."""
    with ExitStack() as opened:

        def open_browser(**options: Any) -> BrowserContext:
            usual = {
                "base_url": f"{service.url}/",
                "locale": "en-GB",
                "timezone_id": "Europe/Berlin",
            }
            context = chromium.new_context(**{**usual, **options})
            opened.callback(context.close)
            context.set_default_timeout(BROWSER_PATIENCE * 1000)
            problems.watch(context)
            return context

        yield open_browser


def sign_in(context: BrowserContext, key: str) -> Page:
    """A page of a browser that gets the cookie of a session; it has opened nothing yet."""
    answer = context.request.post("api/session", data={"key": key}, headers=SIGN_IN)
    assert answer.status == 201, answer.text()
    return context.new_page()


@pytest.fixture
def page(open_browser: OpenBrowser) -> Page:
    """Of the operator, who is signed in."""
    return sign_in(open_browser(), KEY)


@pytest.fixture(scope="module")
def viewer_key(service: Service) -> str:
    """Of a viewer of the default application."""
    application = service.get("/api/me")["application"]["id"]
    answer = service.http.post(
        f"/api/applications/{application}/keys", json={"name": "reader", "role": "viewer"}
    )
    return str(answer.raise_for_status().json()["key"])


@pytest.fixture
def viewer_page(open_browser: OpenBrowser, viewer_key: str) -> Page:
    """Of a viewer, who is signed in."""
    return sign_in(open_browser(), viewer_key)
