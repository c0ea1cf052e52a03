"""A session in a real browser: what ends it, and what pages of other origins can do with it.

Signing in itself is in test_shell.py.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from harness.service import KEY, Service
from tests.browser.conftest import OpenBrowser, sign_in

SOURCES: Final = "#/sources"


def is_signed_out(page: Page) -> None:
    expect(page.get_by_label("API key")).to_be_visible()


def is_signed_in(page: Page) -> None:
    expect(page.get_by_role("heading", name="Sources", level=1)).to_be_visible()


def test_a_revoked_key_leads_back_to_the_sign_in(
    open_browser: OpenBrowser, service: Service
) -> None:
    application = service.get("/api/me")["application"]["id"]
    keys = f"/api/applications/{application}/keys"
    made = service.http.post(keys, json={"name": "leaver", "role": "editor"}).json()
    page = sign_in(open_browser(), made["key"])
    page.goto(SOURCES)
    is_signed_in(page)
    service.http.delete(f"{keys}/{made['id']}").raise_for_status()

    # By itself: its list is read again every few seconds.
    is_signed_out(page)


def test_signing_out_in_one_tab_signs_out_the_others(page: Page) -> None:
    page.goto(SOURCES)
    other = page.context.new_page()
    other.goto(SOURCES)
    for tab in (page, other):
        is_signed_in(tab)
    page.get_by_role("button", name="Account").click()
    page.get_by_role("button", name="Sign out").click()
    is_signed_out(page)

    is_signed_out(other)


# ---------------------------------------------------------------- pages of other origins

# What a page can send without a preflight, what needs one, and a socket.
_ATTACK: Final = """
async (service) => {
  const outcomes = {};
  const tried = async (name, attempt) => {
    try { outcomes[name] = await attempt(); } catch { outcomes[name] = "refused"; }
  };
  const send = async (path, options) => {
    const answer = await fetch(service + path, { credentials: "include", ...options });
    return answer.status;
  };
  const blind = { mode: "no-cors", method: "POST" };
  const headers = { "X-Ingest-Csrf": "1" };
  const body = '{"name": "theirs"}';
  await tried("form", () => new Promise((resolve) => {
    const [frame, form, field] = ["iframe", "form", "input"].map((n) => document.createElement(n));
    frame.name = form.target = "frame";
    form.action = `${service}/api/collections`;
    form.method = "post";
    form.enctype = "text/plain";
    field.name = body;
    form.append(field);
    document.body.append(frame, form);
    frame.onload = () => resolve("sent");
    form.submit();
  }));
  await tried("post", () => send("/api/collections", { ...blind, body }));
  await tried("preflight", () => send("/api/collections", { method: "POST", body, headers }));
  await tried("start work", () => send("/upload/url?url=https://a.example", { mode: "no-cors" }));
  await tried("read", () => send("/api/me", {}));
  await tried("sign out", () => send("/api/session", { method: "DELETE" }));
  await tried("sign in", () => send("/api/session", { ...blind, body: '{"key": "theirs"}' }));
  await tried("socket", () => new Promise((resolve, reject) => {
    const socket = new WebSocket(`${service.replace("http", "ws")}/api/ws`);
    socket.onopen = () => resolve("open");
    socket.onerror = reject;
  }));
  return outcomes;
}
"""


class _EmptyPage(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>other</title><body></body>")

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def other_site() -> Iterator[int]:
    """The port of another web server of this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _EmptyPage) as server:
        thread = Thread(target=partial(server.serve_forever, poll_interval=0.01))
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_page_of_another_origin_cannot_use_the_session(
    chromium: Browser, service: Service, host: str
) -> None:
    """`127.0.0.1` with another port is the same site, so its requests do carry the cookie."""
    context = chromium.new_context(base_url=f"{service.url}/")
    with closing(context), other_site() as port:
        page = sign_in(context, KEY)
        cookies: Any = context.cookies()
        page.goto(f"http://{host}:{port}/")
        statuses: list[tuple[str, int]] = []
        page.on(
            "response",
            lambda answer: statuses.append((urlsplit(answer.url).path, answer.status)),
        )

        outcomes = page.evaluate(_ATTACK, service.url)

    # What arrived: with the cookie it is forbidden, without one it is nobody's.
    assert dict(statuses)["/api/collections"] == (403 if host == "127.0.0.1" else 401)
    assert outcomes.pop("form") == "sent"
    assert len(outcomes) == 7
    assert set(outcomes.values()) == {"refused"}
    assert service.get("/api/collections")["items"] == []
    assert service.get("/api/knowledge-sources")["items"] == []
    with closing(chromium.new_context(base_url=f"{service.url}/")) as again:
        again.add_cookies(cookies)
        assert again.request.get("api/me").status == 200
