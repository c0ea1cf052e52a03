"""The page of the dashboard and its files: what is served, to whom, and with which headers."""

import gzip
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

import httpx
import pytest
from fastapi import FastAPI

from api.dashboard.files import POLICY
from api.main import create_app
from api.middleware.security_headers import HEADERS
from tests.api.conftest import connect

HTML = {"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"}
PAGE = b"<!doctype html><title>page</title>"
SCRIPT = b"export const x = 1;"
SQUEEZED = gzip.compress(SCRIPT, mtime=0)
BROTLI = b"as Brotli has it"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("dashboard"))


def build(parent: Path) -> Path:
    """A folder as `npm run build` leaves it, beside a file that is none of it."""
    static = parent / "static"
    (static / "assets").mkdir(parents=True)
    (static / "index.html").write_bytes(PAGE)
    for name in ("main-AB12.js", "main-AB12.css", "icon-1.svg", "odd"):
        (static / "assets" / name).write_bytes(SCRIPT)
    (static / "assets" / "main-AB12.js.gz").write_bytes(SQUEEZED)
    (static / "assets" / "main-AB12.css.gz").write_bytes(SQUEEZED)
    (static / "assets" / "main-AB12.css.br").write_bytes(BROTLI)
    (parent / "secret").write_text("secret")
    return static


@cache  # an application takes longer to make than a test
def app_of(folder: Path | None, has_docs: bool) -> FastAPI:
    return create_app(cast(Any, None), has_docs=has_docs, dashboard=folder)


async def get(
    folder: Path | None,
    url: str,
    headers: Mapping[str, str] = MappingProxyType({}),
    *,
    method: str = "GET",
    has_docs: bool = True,
) -> httpx.Response:
    app = app_of(folder, has_docs)
    sent = {"Accept-Encoding": "identity", **headers}
    async with connect(app, None) as client:
        # As a client sends it that does not resolve dots.
        raw = httpx.URL(scheme="http", host="ingest.test", raw_path=url.encode())
        return await client.request(method, raw, headers=sent)


async def test_browsers_get_the_page_and_programs_the_documentation(folder: Path) -> None:
    page = await get(folder, "/", HTML)
    program = await get(folder, "/", {"Accept": "*/*"})

    assert (page.status_code, page.content) == (200, PAGE)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert (program.status_code, program.headers["location"]) == (307, "/docs")
    assert "Accept" in page.headers["vary"]
    assert "Accept" in program.headers["vary"]


async def test_the_page_does_not_depend_on_the_documentation(folder: Path) -> None:
    page = await get(folder, "/", HTML, has_docs=False)
    program = await get(folder, "/", has_docs=False)

    assert (page.status_code, program.status_code) == (200, 404)


async def test_the_dashboard_can_be_switched_off() -> None:
    page = await get(None, "/", HTML)
    script = await get(None, "/assets/main-AB12.js")

    assert (page.status_code, page.headers["location"]) == (307, "/docs")
    assert script.status_code == 404


@pytest.mark.parametrize("path", ["/", "/assets/main-AB12.js"])
async def test_the_page_and_its_files_have_the_strict_policy(folder: Path, path: str) -> None:
    """A worker has the policy of its own file, not of the page."""
    answer = await get(folder, path, HTML)

    assert answer.headers.get_list("content-security-policy") == [POLICY]
    assert "unsafe" not in POLICY
    for name, value in HEADERS.items():
        if name not in ("Content-Security-Policy", "Cache-Control"):
            assert answer.headers.get_list(name) == [value]


async def test_browsers_keep_files_for_ever_and_ask_for_the_page(folder: Path) -> None:
    page = await get(folder, "/", HTML)
    script = await get(folder, "/assets/main-AB12.js")
    again = await get(folder, "/", {"If-None-Match": f'"x", {page.headers["etag"]}', **HTML})
    changed = await get(folder, "/", {"If-None-Match": '"x"', **HTML})

    assert page.headers["cache-control"] == "no-cache"
    assert script.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == page.headers["etag"]
    assert changed.status_code == 200


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("main-AB12.js", "text/javascript; charset=utf-8"),
        ("main-AB12.css", "text/css; charset=utf-8"),
        ("icon-1.svg", "image/svg+xml"),
        ("odd", "application/octet-stream"),
    ],
)
async def test_files_have_their_type(folder: Path, name: str, media_type: str) -> None:
    answer = await get(folder, f"/assets/{name}")

    assert (answer.headers["content-type"], answer.content) == (media_type, SCRIPT)


@pytest.mark.parametrize(
    ("accepted", "is_compressed"),
    [
        ("gzip", True),
        ("br, GZIP;q=0.5", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000", False),
        ("br, identity", False),
        ("x-gzip-y", False),
    ],
)
async def test_a_file_is_sent_compressed_to_who_reads_that(
    folder: Path, accepted: str, is_compressed: bool
) -> None:
    url = "/assets/main-AB12.js"
    answer = await get(folder, url, {"Accept-Encoding": accepted})
    plain = await get(folder, url)
    other = await get(folder, "/assets/icon-1.svg", {"Accept-Encoding": "gzip"})

    assert answer.content == SCRIPT  # as the client has unpacked it
    assert (answer.headers.get("content-encoding") == "gzip") == is_compressed
    assert (answer.headers["etag"] == plain.headers["etag"]) != is_compressed
    assert int(answer.headers["content-length"]) == len(SQUEEZED if is_compressed else SCRIPT)
    assert "Accept-Encoding" in answer.headers["vary"]
    assert "content-encoding" not in other.headers  # it is not there compressed


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("gzip, deflate, br", "br"),
        ("br;q=0.1, gzip", "br"),
        ("gzip, br;q=0", "gzip"),
        ("gzip", "gzip"),
        ("deflate", None),
    ],
)
async def test_brotli_is_sent_to_who_names_it(
    folder: Path, accepted: str, coding: str | None
) -> None:
    app = app_of(folder, True)
    async with (
        connect(app, None) as client,
        client.stream(
            "GET", "/assets/main-AB12.css", headers={"Accept-Encoding": accepted}
        ) as answer,
    ):
        content = b"".join([part async for part in answer.aiter_raw()])

    assert answer.headers.get("content-encoding") == coding
    assert content == {"br": BROTLI, "gzip": SQUEEZED, None: SCRIPT}[coding]
    assert answer.headers["vary"] == "Accept, Accept-Encoding"


async def test_head_is_get_without_the_body(folder: Path) -> None:
    for path in ("/", "/assets/main-AB12.js"):
        got = await get(folder, path, HTML)
        asked = await get(folder, path, HTML, method="HEAD")

        assert (asked.status_code, asked.content) == (200, b"")
        assert asked.headers == got.headers


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../../secret",
        "/assets/%2e%2e/%2e%2e/secret",
        "/assets/..%2f..%2fsecret",
        "/assets/..%5c..%5csecret",
        "/assets//etc/passwd",
        "/assets/%2fetc/passwd",
        "/assets/main-AB12.js%00",
        "/assets/../index.html",
        "/assets/main-AB12.js.gz",
        "/assets/",
        "/assets",
        "/index.html",
    ],
)
async def test_nothing_else_is_served(folder: Path, path: str) -> None:
    answer = await get(folder, path, HTML)

    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


async def test_a_page_that_is_built_again_is_served_at_once(tmp_path: Path) -> None:
    folder = build(tmp_path)
    app = create_app(cast(Any, None), dashboard=folder)
    async with connect(app, None) as client:
        first = await client.get("/", headers=HTML)
        (folder / "assets" / "new-1.js").write_bytes(b"new")
        (folder / "index.html").write_bytes(b"new page")
        os.utime(folder / "index.html", ns=(0, 0))
        second = await client.get("/", headers=HTML)
        script = await client.get("/assets/new-1.js")

    assert (first.content, second.content, script.content) == (PAGE, b"new page", b"new")
    assert first.headers["etag"] != second.headers["etag"]


async def test_without_built_files_the_page_says_how_to_build_them(tmp_path: Path) -> None:
    page = await get(tmp_path / "nothing", "/", HTML)
    script = await get(tmp_path / "nothing", "/assets/main-AB12.js")

    assert (page.status_code, script.status_code) == (503, 404)
    assert "npm run build" in page.text
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "script-src" not in page.headers["content-security-policy"]
