"""The dashboard below a path of a proxy."""

from typing import Final
from urllib.parse import urlsplit

from playwright.sync_api import Page, Request, expect

from harness.service import Service

SETTINGS: Final = {"INGEST_ROOT_PATH": "/rag"}


def test_everything_is_asked_below_the_prefix(page: Page, service: Service) -> None:
    service.upload([("a file.txt", b"some words")])
    asked: list[Request] = []
    page.on("request", lambda request: asked.append(request))
    sockets: list[str] = []
    page.on("websocket", lambda socket: sockets.append(socket.url))
    page.goto("rag/#/sources")
    expect(page.get_by_role("row", name="a file.txt")).to_be_visible()
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Sources")).to_be_visible()

    paths = {urlsplit(url).path for url in [*(request.url for request in asked), *sockets]}
    assert "/rag/api/ws" in paths
    assert {path for path in paths if not path.startswith("/rag/")} == set()
