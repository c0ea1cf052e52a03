"""What is known of a page that was read: rules of its headers, and whether links are missing."""

from uuid import UUID

import pytest

from ingest.handlers.context import Progress
from ingest.handlers.crawl.read_page import ReadPage, read_page
from ingest.postgres.database import Pool, transaction
from ingest.store.crawl import crawl_pages
from ingest.store.crawl.runs import StartedRun
from ingest.store.queue.jobs import ClaimedJob
from tests.servers.web_server import Answer, response
from tests.support.crawl.crawl_fixtures import SiteHouse, html, site_house

_ETAG = {"ETag": '"1"'}
_HOME = ("Home.", "/a")


def _site(*, tag: dict[str, str], as_304: bool) -> dict[str, Answer]:
    headers = {**_ETAG, **tag}
    if as_304:
        return {"/": response(status=304, headers=headers)}
    return {"/": html(*_HOME, headers=headers)}


def _page_with_links(count: int, headers: dict[str, str] | None = None) -> bytes:
    """The answer with a page whose links lead to nothing that would be fetched."""
    links = "".join(f'<a href="/{number}.png"></a>' for number in range(count))
    body = f"<html><body><main><p>Home.</p>{links}</main></body></html>"
    return response(body.encode(), headers={"Content-Type": "text/html", **(headers or {})})


async def _start_page(house: SiteHouse, run: StartedRun) -> ClaimedJob:
    """The job of the run's first page, which is due."""
    [root] = await house.claim()
    await house.carry_out(root)
    [job] = await house.claim()
    return job


async def _read(house: SiteHouse, run: StartedRun) -> ReadPage:
    """The start page of a run as it is read; then the run goes on to its end."""
    job = await _start_page(house, run)
    async with transaction(house.pool) as conn:
        page = await crawl_pages.first_page(conn, run.crawl_id)
        assert page is not None
        stored = await crawl_pages.stored_page(conn, run.source_id, page.uri)
    read = await read_page(job, page, stored, house.context, Progress(job), scope=None)
    await house.carry_out(job)
    await house.run_all()
    return read


@pytest.mark.parametrize("as_304", [False, True])
async def test_a_page_that_stayed_the_same_but_shall_no_longer_be_indexed_is_removed(
    pool: Pool, application_id: UUID, as_304: bool
) -> None:
    site = {"/": html(*_HOME, headers=_ETAG), "/a": html("A.")}
    async with site_house(pool, site) as house:
        house.removal_threshold = 1.0
        run = await house.start(application_id)
        await house.run_all()
        house.web.answers |= _site(tag={"X-Robots-Tag": "noindex"}, as_304=as_304)
        run = await house.rescrape(application_id, run.source_id)
        await house.run_all()
        pages = await house.pages(run)

        assert await house.documents(run) == {"/a"}
    assert (pages["/"]["status"], pages["/"]["error_code"]) == ("removed", "noindex")


@pytest.mark.parametrize("as_304", [False, True])
async def test_links_of_a_page_that_stayed_the_same_are_not_followed_against_its_headers(
    pool: Pool, application_id: UUID, as_304: bool
) -> None:
    site = {"/": html(*_HOME, headers=_ETAG), "/a": html("A.")}
    async with site_house(pool, site) as house:
        run = await house.start(application_id)
        await house.run_all()
        house.web.answers |= _site(tag={"X-Robots-Tag": "nofollow"}, as_304=as_304)
        run = await house.rescrape(application_id, run.source_id)
        await house.run_all()
        pages = await house.pages(run)

    assert pages["/"]["status"] == "unchanged"
    assert pages["/a"]["status"] in ("held", "removed")


@pytest.mark.parametrize(("count", "is_cut"), [(4999, False), (5001, True)])
async def test_unchanged_page_reports_missing_links_too(
    pool: Pool, application_id: UUID, count: int, is_cut: bool
) -> None:
    async with site_house(pool, {"/": _page_with_links(count)}) as house:
        run = await house.start(application_id)
        first = await _read(house, run)
        again = await _read(house, await house.rescrape(application_id, run.source_id))

    assert first.parsed is not None
    assert again.parsed is None
    assert (first.links_cut, again.links_cut) == (is_cut, is_cut)


async def test_nofollow_links_do_not_count_as_missing(pool: Pool, application_id: UUID) -> None:
    page = _page_with_links(5001, {"X-Robots-Tag": "nofollow"})
    async with site_house(pool, {"/": page}) as house:
        read = await _read(house, await house.start(application_id))

    assert not read.links_cut
