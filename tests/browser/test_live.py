"""Lists that change while they are read."""

import json
import re
import time
from typing import Final

from playwright.sync_api import Page, Request, WebSocketRoute, expect

from harness.service import Service

RTL: Final = "דוח שנתי (סופי).txt"
MARKUP: Final = "<img src=x onerror=alert(1)>.txt"


def texts(name: str, count: int, start: int = 0) -> list[tuple[str, bytes]]:
    return [
        (f"{name} {number}.txt", f"{name} says {number}".encode())
        for number in range(start, start + count)
    ]


def test_a_row_shows_its_state_as_it_changes(page: Page, service: Service) -> None:
    pause_workers(service, True)
    source = service.upload(texts("slow", 1))["knowledgeSourceIds"][0]
    page.goto("#/sources")
    row = page.get_by_role("row", name="slow 0.txt")
    expect(row).to_contain_text("waiting")
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    # From now on lists have no answer: what the page learns comes by the socket.
    page.route("**/api/knowledge-sources?*", lambda route: None)

    pause_workers(service, False)
    service.wait_until_terminal(source)
    expect(row).to_contain_text("completed")
    expect(row.get_by_role("cell").nth(4)).to_have_text("1")


def test_new_rows_are_announced_and_shown_on_demand(page: Page, service: Service) -> None:
    service.upload(texts("before", 1))
    page.goto("#/sources")
    expect(page.get_by_role("row", name="before 0.txt")).to_be_visible()
    count = page.get_by_role("row").count()
    service.upload(texts("after", 3))
    announcement = page.get_by_role("button", name="3 new · show")
    expect(announcement).to_be_visible()
    assert page.get_by_role("row").count() == count

    announcement.click()
    expect(page.get_by_role("row", name=re.compile(r"after \d\.txt"))).to_have_count(3)
    expect(announcement).to_have_count(0)


def pause_workers(service: Service, paused: bool) -> None:
    answer = service.http.put("/api/worker/config", json={"paused": paused})
    answer.raise_for_status()


def test_many_events_cause_few_requests(page: Page, service: Service) -> None:
    source = service.upload(texts("busy", 1))["knowledgeSourceIds"][0]
    service.wait_until_terminal(source)
    sockets: list[WebSocketRoute] = []
    snapshots: list[str | bytes] = []

    def through(socket: WebSocketRoute) -> None:
        def pass_on(text: str | bytes) -> None:
            snapshots.append(text)
            socket.send(text)

        socket.connect_to_server().on_message(pass_on)
        sockets.append(socket)

    page.route_web_socket("**/api/ws?*", through)
    lists: list[Request] = []
    page.on("request", lambda request: lists.append(request) if is_list(request) else None)
    began = time.monotonic()
    page.goto("#/sources")
    row = page.get_by_role("row", name="busy 0.txt")
    expect(row).to_contain_text("completed")
    while not any(source in str(text) for text in snapshots):
        page.wait_for_timeout(20)
    for number in range(1000):
        status = ("pending", "processing")[number % 2]
        event = {"type": "job", "knowledgeSourceId": source, "seq": 1000 + number, "status": status}
        sockets[0].send(json.dumps(event))
        if number % 20 == 0:
            page.wait_for_timeout(50)
    expect(row).to_contain_text("processing")

    # At most one a second, however long all that takes.
    assert len(lists) <= 2 + (time.monotonic() - began)


def is_list(request: Request) -> bool:
    return "/api/knowledge-sources?" in request.url


def test_hostile_names_are_text(page: Page, service: Service) -> None:
    long = "/".join(["ü" * 60] * 30) + ".txt"
    service.upload([(MARKUP, b"one"), (RTL, b"two"), ("🦊.txt", b"three"), (long, b"four")])
    page.goto("#/sources")
    for name in (MARKUP, RTL, "🦊.txt"):
        expect(page.get_by_text(name, exact=True).first).to_be_visible()
    expect(page.get_by_text("üüü").first).to_be_visible()

    assert page.locator("td img").count() == 0
    assert page.locator("bdi", has_text=RTL).first.get_attribute("dir") == "auto"
    # Even the longest path makes no line wider than the page.
    table = page.get_by_role("table").bounding_box()
    assert table is not None
    assert table["x"] + table["width"] <= 1280


def test_pages_are_turned_and_found_again(page: Page, service: Service) -> None:
    service.upload(texts("page", 60))
    page.goto("#/sources")
    expect(page.get_by_role("row")).to_have_count(51)
    first = page.get_by_role("row").nth(1).inner_text()
    page.get_by_role("button", name="Next").click()
    expect(page).to_have_url(re.compile("cursor="))
    expect(page.get_by_role("row").nth(1)).not_to_have_text(first)
    address = page.url

    page.get_by_role("button", name="Previous").click()
    expect(page).not_to_have_url(re.compile("cursor="))
    page.goto(address)
    page.reload()
    page.get_by_role("button", name="First").click()
    expect(page).not_to_have_url(re.compile("cursor="))
