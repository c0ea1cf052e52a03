"""The dashboard below the path of a proxy."""

from typing import Final
from urllib.parse import urlsplit

from playwright.sync_api import expect

from harness.service import KEY, Service
from tests.browser.conftest import OpenBrowser

SETTINGS: Final = {"INGEST_ROOT_PATH": "/rag"}


def test_everything_is_asked_below_the_prefix(open_browser: OpenBrowser, service: Service) -> None:
    service.upload([("a file.txt", b"some words")])
    page = open_browser().new_page()
    paths: list[str] = []
    page.on("request", lambda request: paths.append(urlsplit(request.url).path))
    page.on("websocket", lambda socket: paths.append(urlsplit(socket.url).path))

    page.goto("rag#/sources")
    page.get_by_label("API key").fill(KEY)
    page.keyboard.press("Enter")
    expect(page.get_by_role("row", name="a file.txt")).to_be_visible()
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Sources", level=1)).to_be_visible()

    assert page.url == f"{service.url}/rag/#/sources"
    assert "/rag/api/ws" in paths
    assert [path for path in paths if not path.startswith("/rag/")] == ["/rag"]
