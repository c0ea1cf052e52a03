"""Pages that Firecrawl delivers although they have no content of their own."""

from uuid import UUID

from ingest.handlers.firecrawl.pages import to_provider_pages
from ingest.postgres.database import Pool, transaction
from ingest.providers.firecrawl.events import parse_event
from ingest.store.crawl import crawls, provider_pages
from tests.servers.firecrawl_events import document, event
from tests.support.crawl.crawl_fixtures import site_house
from tests.support.crawl.firecrawl_runs import post


async def test_a_login_and_a_soft_404_from_firecrawl_are_skipped(
    pool: Pool, application_id: UUID
) -> None:
    texts = {
        "/a": "# Garden\n\nThe text of a page.",
        "/in": "# Anmelden\n\nBitte melden Sie sich an, um fortzufahren.",
        "/no": "# Page not found\n\nSorry, the page you requested could not be found.",
    }
    async with site_house(pool, {}) as house:
        run = await house.start(application_id, provider="firecrawl")
        body = event(
            "crawl.page",
            id="crawl",
            data=[document(house.web.url(path), text) for path, text in texts.items()],
            run={},
        )
        async with transaction(pool) as conn:
            crawl = await crawls.get(conn, run.crawl_id)
            assert crawl is not None
            locked = await crawls.lock(
                conn, run.crawl_id, source_id=run.source_id, job_id=run.job_id
            )
            await provider_pages.insert(
                conn,
                await provider_pages.owner_of(conn, crawl),
                to_provider_pages(parse_event(body).pages),
                locked=locked,
                event_id=await post(conn, body),
            )
        for job in await house.claim(batch=4):
            if job.type == "crawl_page":
                await house.carry_out(job)
        pages = await house.pages(run)

        assert await house.documents(run) == {"/a"}
        assert (await house.crawl(run))["page_count"] == 1
    assert {path: (page["status"], page["error_code"]) for path, page in pages.items()} == {
        "/a": ("new", None),
        "/in": ("skipped", "login_page"),
        "/no": ("skipped", "soft_404"),
    }
