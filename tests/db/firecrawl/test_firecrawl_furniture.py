"""What repeats on the pages that Firecrawl delivers, whole menus included, is left out of them."""

from collections.abc import Mapping
from uuid import UUID

from ingest.handlers.crawl.site_furniture import find_furniture, save_furniture
from ingest.handlers.firecrawl.pages import to_provider_pages
from ingest.postgres.database import Pool, transaction
from ingest.providers.firecrawl.events import parse_event
from ingest.store.crawl import crawls, provider_pages
from ingest.store.crawl.crawls import Crawl
from ingest.store.crawl.runs import StartedRun
from tests.servers.firecrawl_events import document, event
from tests.support.crawl.crawl_fixtures import SiteHouse, site_house
from tests.support.crawl.firecrawl_runs import post

MENU = "[Skip to content](#main)\n\n- [Home](/)\n- [Berths](/berths)\n- [Tides](/tides)\n\n"


def text_of(name: str) -> str:
    return f"# Pier {name}\n\nPier {name} was built by hand and is used by boats of {name}."


async def test_menus_in_the_markdown_of_firecrawl_are_left_out(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, {}) as house:
        run = await house.start(application_id, provider="firecrawl")
        first = {f"/{name}": f"{MENU}{text_of(name)}" for name in "abcdefghij"}
        await deliver(house, run, first)
        async with transaction(pool) as conn:
            crawl = await crawls.get(conn, run.crawl_id)
        assert crawl is not None
        await decide(house, crawl)
        [rechunk] = await house.claim()
        assert rechunk.type == "rechunk"
        await house.carry_out(rechunk)
        await deliver(house, run, {"/later": f"{MENU}{text_of('later')}"})
        rows = await house.rows("select uri, text, furniture from rag.documents")

        texts = {house.path(row["uri"]): row["text"] for row in rows}
        assert texts == {path: text_of(path[1:]) for path in [*first, "/later"]}
        assert all(len(row["furniture"]) == 4 for row in rows)


async def deliver(house: SiteHouse, run: StartedRun, texts: Mapping[str, str]) -> None:
    """Let Firecrawl report pages of a run, and carry out their jobs."""
    body = event(
        "crawl.page",
        id="crawl",
        data=[document(house.web.url(path), text) for path, text in texts.items()],
        run={},
    )
    async with transaction(house.pool) as conn:
        crawl = await crawls.get(conn, run.crawl_id)
        assert crawl is not None
        locked = await crawls.lock(conn, run.crawl_id, source_id=run.source_id, job_id=run.job_id)
        await provider_pages.insert(
            conn,
            await provider_pages.owner_of(conn, crawl),
            to_provider_pages(parse_event(body).pages),
            locked=locked,
            event_id=await post(conn, body),
        )
    for job in await house.claim(batch=len(texts) + 1):
        if job.type == "crawl_page":
            await house.carry_out(job)


async def decide(house: SiteHouse, crawl: Crawl) -> None:
    """What the end of a run does."""
    found = await find_furniture(crawl, house.context)
    assert found is not None
    async with transaction(house.pool) as conn:
        await crawls.lock(conn, crawl.id, source_id=crawl.source_id, job_id=crawl.job_id)
        await save_furniture(conn, crawl, found)
