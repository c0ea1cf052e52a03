"""Sitemaps that fail, are too long or too slow: what they do not tell is not taken for gone."""

import asyncio
from typing import Any
from uuid import UUID

import pytest

from ingest.handlers.crawl import sitemaps
from ingest.postgres.database import Pool
from ingest.store.crawl.runs import StartedRun
from tests.servers.web_server import Answer, Request, redirect, response
from tests.support.crawl.crawl_fixtures import SiteHouse, html, site_house

_ROBOTS = "/robots.txt"
_HIDDEN = {"/": html("Home."), "/hidden": html("Linked nowhere.")}


def _urlset(house: SiteHouse, *paths: str) -> bytes:
    entries = "".join(f"<url><loc>{house.web.url(path)}</loc></url>" for path in paths)
    return f"<urlset>{entries}</urlset>".encode()


def _index(house: SiteHouse, *paths: str) -> bytes:
    entries = "".join(f"<sitemap><loc>{house.web.url(path)}</loc></sitemap>" for path in paths)
    return f"<sitemapindex>{entries}</sitemapindex>".encode()


async def _unread(house: SiteHouse, run: StartedRun) -> int:
    return int((await house.crawl(run))["skipped"].get("unread", 0))


async def _again(house: SiteHouse, application_id: UUID, answer: Answer) -> StartedRun:
    """A site whose sitemap alone names a page, run a second time with this answer for it."""
    house.removal_threshold = 1.0
    house.web.answers["/sitemap.xml"] = response(_urlset(house, "/hidden"))
    run = await house.start(application_id)
    await house.run_all()
    assert await house.documents(run) == {"/", "/hidden"}
    house.web.answers["/sitemap.xml"] = answer
    run = await house.rescrape(application_id, run.source_id)
    await house.run_all()
    return run


async def _break_off(request: Request, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n<urlset>")
    await writer.drain()


async def _hang(request: Request, writer: asyncio.StreamWriter) -> None:
    await writer.wait_closed()  # until the client goes


async def test_sitemap_403_counts_as_missing(pool: Pool, application_id: UUID) -> None:
    async with site_house(pool, {"/": html("Home.")}) as house:
        house.web.answers["/sitemap.xml"] = response(b"not you", status=403)
        run = await house.start(application_id)
        await house.run_all()
        assert (await house.crawl(run))["is_complete"]

        house.web.answers[_ROBOTS] = response(
            f"Sitemap: {house.web.url('/sitemap.xml')}\n".encode()
        )
        run = await house.rescrape(application_id, run.source_id)
        await house.run_all()
        assert await _unread(house, run) == 1


@pytest.mark.parametrize(
    "answer",
    [
        response(b"later", status=503),
        response(b" " * (1024 * 1024 + 1)),  # more than is fetched
        response(b"<urlset><url><loc>http://127"),
        redirect("/sitemap.xml"),
        _break_off,
    ],
    ids=["down", "too_large", "cut_off", "in_a_circle", "broken_off"],
)
async def test_pages_listed_only_in_a_sitemap_are_kept_if_it_is_unreadable(
    pool: Pool, application_id: UUID, answer: Any
) -> None:
    async with site_house(pool, _HIDDEN) as house:
        run = await _again(house, application_id, answer)

        assert await house.documents(run) == {"/", "/hidden"}
        assert await _unread(house, run) == 1
        assert not (await house.crawl(run))["is_complete"]


@pytest.mark.parametrize("status", [404, 410])
async def test_missing_sitemap_does_not_block_removals(
    pool: Pool, application_id: UUID, status: int
) -> None:
    async with site_house(pool, _HIDDEN) as house:
        run = await _again(house, application_id, response(status=status))

        assert await house.documents(run) == {"/"}
        assert await _unread(house, run) == 0


async def test_sitemaps_beyond_those_that_are_read_are_counted(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, {"/": html("Home.")}) as house:
        names = [f"/s{number}.xml" for number in range(52)]
        house.web.answers |= {name: response(_urlset(house)) for name in names}
        house.web.answers["/sitemap.xml"] = response(_index(house, *names, names[0]))
        run = await house.start(application_id)
        await house.run_all()

        assert "/s48.xml" in house.web.paths
        assert "/s49.xml" not in house.web.paths
        assert await _unread(house, run) == 3


async def test_sitemap_is_searched_to_its_end_for_matching_pages(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, {"/": html("Home."), "/docs/a": html("A.")}) as house:
        paths = [f"/news/item-{number}-x" for number in range(1200)]
        house.web.answers["/sitemap.xml"] = response(_urlset(house, *paths, "/docs/a"))
        run = await house.start(application_id, limit=5, include_paths=["^/docs/"])
        await house.run_all()

        assert await house.documents(run) == {"/", "/docs/a"}
        assert (await house.crawl(run))["skipped"] == {"excluded": 1200}
        assert (await house.crawl(run))["is_complete"]


async def test_sitemap_urls_beyond_the_limit_are_only_counted(
    pool: Pool, application_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sitemaps, "_EXTRA_PAGES", 3)
    async with site_house(pool, {"/": html("Home.")}) as house:
        names = ["/a", "/b", "/c", "/d", "/e", "/f", "/g"]
        house.web.answers |= {name: html(f"Page {name}.") for name in names}
        house.web.answers["/sitemap.xml"] = response(_urlset(house, *names))
        run = await house.start(application_id, limit=2)
        await house.run_all()
        crawl = await house.crawl(run)

        assert await house.documents(run) == {"/", "/a"}
    assert crawl["skipped"] == {"limit": 2}
    assert crawl["digest"]["overLimit"] == 6
    assert not crawl["is_complete"]


async def test_slow_sitemap_is_cut_off_and_read_part_is_used(
    pool: Pool, application_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with site_house(pool, _HIDDEN) as house:
        house.web.answers |= {
            "/sitemap.xml": response(_index(house, "/good.xml", "/slow.xml", "/other.xml")),
            "/good.xml": response(_urlset(house, "/hidden")),
            "/slow.xml": _hang,
        }
        monkeypatch.setattr(sitemaps, "_BUDGET_SECONDS", 2.0)
        run = await house.start(application_id)
        await house.run_all()

        assert "/other.xml" not in house.web.paths
        assert await house.documents(run) == {"/", "/hidden"}
        assert await _unread(house, run) == 2
