"""A network between page and service that is cut, or swallows what is sent; and a service that
starts anew. The page's clock is wound on: nobody waits for its patience."""

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Locator, Page, Route, WebSocket, expect

from harness.proxy import Proxy
from harness.service import KEY, Service
from tests.browser.conftest import OpenBrowser, sign_in
from tests.browser.watch import NO_NETWORK, Problems

FILES: Final = 6


@pytest.fixture
def wire(service: Service) -> Iterator[Proxy]:
    with closing(Proxy(service.port)) as wire:
        yield wire


@pytest.fixture
def problems(wire: Proxy) -> Iterator[Problems]:
    problems = Problems(origin=f"http://127.0.0.1:{wire.port}")
    yield problems
    problems.check()


@pytest.fixture
def page(open_browser: OpenBrowser, wire: Proxy) -> Page:
    """Of the operator, who is signed in; it reaches the service by the wire, and has a clock of its
    own."""
    page = sign_in(open_browser(base_url=f"http://127.0.0.1:{wire.port}/"), KEY)
    page.clock.install()
    return page


class Events:
    """What a page receives of each source by all its connections."""

    def __init__(self, page: Page) -> None:
        self.connections = 0
        self._numbers: defaultdict[str, list[int]] = defaultdict(list)
        self._begin: dict[str, int] = {}
        page.on("websocket", self._connected)

    def _connected(self, socket: WebSocket) -> None:
        self.connections += 1
        socket.on("framereceived", self._received)

    def _received(self, frame: str | bytes) -> None:
        message = json.loads(frame)
        if message["type"] == "snapshot":
            self._begin.setdefault(message["knowledgeSourceId"], message["seq"])
        elif message["type"] != "ping":
            self._numbers[message["knowledgeSourceId"]].append(message["seq"])

    @property
    def sources(self) -> int:
        return len(self._begin)

    def check(self, last: dict[str, int]) -> None:
        """Each event since the first snapshot has arrived, once and in order."""
        assert self._numbers == {
            id: list(range(self._begin[id] + 1, number + 1)) for id, number in last.items()
        }


def live(page: Page) -> Locator:
    return page.get_by_text("Live", exact=True)


def reconnecting(page: Page) -> Locator:
    return page.get_by_text("Reconnecting", exact=True)


def wind(page: Page, seconds: int) -> None:
    """Second by second: what a timer starts may need an answer before the next one."""
    for _ in range(seconds):
        page.clock.run_for(1000)


def write(service: Service, name: str, parts: int) -> None:
    """Write files of so many chunks or more, anew if they are there, and wait for their end."""
    text = b"\n\n".join(f"# {part}\n\n{'some words ' * 1000}".encode() for part in range(parts))
    files = [(f"{name} {number}.md", text + str(number).encode()) for number in range(FILES)]
    for id in service.upload(files)["knowledgeSourceIds"]:
        service.wait_until_terminal(id)


def followed(page: Page, service: Service, name: str) -> tuple[Events, Callable[[int], None]]:
    """A page with files of one part, and what checks that it knows them with so many parts."""
    events = Events(page)
    write(service, name, 1)
    page.goto(f"#/sources?q={name}")
    rows = page.get_by_role("row", name=f"{name} ")
    expect(rows).to_have_count(FILES)
    while events.sources < FILES:
        page.wait_for_timeout(20)

    def check(parts: int) -> None:
        last = {}
        for item in service.get("/api/knowledge-sources", q=name)["items"]:
            source = service.source(item["id"])
            last[source["id"]] = source["eventSeq"]
            assert source["chunkCount"] >= parts
            row = rows.filter(has_text=source["name"])
            expect(row.get_by_role("cell").nth(4)).to_have_text(str(source["chunkCount"]))
            expect(row).to_contain_text("completed")
        events.check(last)

    return events, check


def test_a_cut_of_thirty_seconds_loses_and_doubles_no_event(
    page: Page, service: Service, wire: Proxy, problems: Problems
) -> None:
    problems.allow(NO_NETWORK)
    events, check = followed(page, service, "cut")
    wire.set("closed")
    expect(reconnecting(page)).to_be_visible()
    write(service, "cut", 3)
    wind(page, 30)
    expect(reconnecting(page)).to_be_visible()

    wire.set("open")
    wind(page, 15)
    expect(live(page)).to_be_visible()
    check(3)
    write(service, "cut", 4)
    check(4)
    assert events.connections == 2


def test_a_silence_that_ends_loses_and_doubles_no_event(
    page: Page, service: Service, wire: Proxy
) -> None:
    events, check = followed(page, service, "hush")
    wire.set("silent")
    write(service, "hush", 3)
    wind(page, 30)
    expect(live(page)).to_be_visible()

    wire.set("open")
    check(3)
    assert events.connections == 1


def test_a_connection_that_stays_silent_is_replaced(
    page: Page, service: Service, wire: Proxy, problems: Problems
) -> None:
    problems.allow(NO_NETWORK)
    events, check = followed(page, service, "dead")
    wire.set("silent")
    write(service, "dead", 3)
    wind(page, 46)
    expect(reconnecting(page)).to_be_visible()

    wire.set("closed")
    wire.set("open")
    wind(page, 15)
    expect(live(page)).to_be_visible()
    check(3)
    assert events.connections == 2


def test_events_go_on_after_a_restart_of_the_service(
    page: Page, service: Service, problems: Problems
) -> None:
    problems.allow(NO_NETWORK)
    events, check = followed(page, service, "anew")
    service.kill()
    expect(reconnecting(page)).to_be_visible()
    service.restart()
    service.wait_until_ready()
    write(service, "anew", 3)

    wind(page, 15)
    expect(live(page)).to_be_visible()
    check(3)
    assert events.connections == 2


@pytest.mark.parametrize("is_stored", [False, True], ids=["half a part", "lost answer"])
def test_a_part_of_an_upload_that_is_cut_is_sent_again(
    page: Page, service: Service, wire: Proxy, problems: Problems, is_stored: bool
) -> None:
    problems.allow(NO_NETWORK)
    name = f"{is_stored}.txt"
    large = f"{is_stored} ".encode() * 400_000
    page.goto("#/upload")
    expect(live(page)).to_be_visible()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose files").click()
    chooser.value.set_files({"name": name, "mimeType": "text/plain", "buffer": large})

    def stored() -> list[Any]:
        items: list[Any] = service.get("/api/knowledge-sources", q=name)["items"]
        return items

    def send(route: Route) -> None:
        wire.set("deaf")
        route.continue_()

    if is_stored:
        page.context.route("**/upload/documents", send, times=1)
    else:
        wire.set_after(1_000_000, "closed")
    page.get_by_role("button", name="Upload 1 file").click()
    if is_stored:
        while not stored():
            page.wait_for_timeout(20)
        wire.set("closed")
    failed = page.get_by_role("main").get_by_role("button", name="Try now")
    expect(failed).to_be_visible()
    assert len(stored()) == is_stored
    wire.set("open")
    wind(page, 30)
    expect(page.get_by_role("heading", name="All files are sent")).to_be_visible()
    expect(page.get_by_role("button", name="accepted 1")).to_be_visible()
    [source] = stored()
    whole = {"path": name, "sha256": hashlib.sha256(large).hexdigest()}
    [known] = service.http.post("/upload/check", json={"files": [whole]}).json()["known"]
    assert (known["verdict"], known["knowledgeSourceId"]) == ("unchanged", source["id"])


def test_a_large_file_shows_how_much_of_it_is_sent(page: Page, wire: Proxy, tmp_path: Path) -> None:
    # Of no type that the service reads: there is nothing to process.
    (tmp_path / "large.bin").write_bytes(bytes(30_000_000))
    page.goto("#/upload")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose files").click()
    chooser.value.set_files(tmp_path / "large.bin")
    wire.set_after(1_000_000, "silent")
    page.get_by_role("button", name="Upload 1 file").click()
    progress = page.get_by_role("progressbar", name="Progress of the upload")
    expect(progress).to_have_attribute("value", re.compile(r"^[1-9]\d?$"))
    expect(page.get_by_text("0 of 1", exact=True)).to_be_visible()

    wire.set("open")
    expect(page.get_by_role("heading", name="All files are sent")).to_be_visible()
    expect(progress).to_have_attribute("value", "100")
