"""Pages that Firecrawl reports, but that do not belong to the run."""

from uuid import UUID

import pytest

from ingest.firecrawl_inbox import Inbox
from ingest.postgres.database import Connection
from tests.servers.firecrawl_behaviour import Behaviour, SitePage
from tests.servers.firecrawl_events import document
from tests.servers.firecrawl_server import FirecrawlServer
from tests.support.crawl.firecrawl_runs import (
    SITE,
    Post,
    Root,
    child_jobs,
    crawl_of,
    drain,
    page_rows,
    sent_run,
    told,
)

DOOR = SITE + "door"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://169.254.169.254/latest/meta-data", "off_site"),
        ("https://shop.test:8443/door", "off_site"),
        ("https://shop.test.evil.test/door", "off_site"),
        (SITE + "private/door", "excluded"),
        (SITE + "door.png", "not_a_page"),
    ],
)
async def test_a_page_outside_of_the_run_is_skipped_wherever_it_was_queued(
    conn: Connection, application_id: UUID, inbox: Inbox, url: str, reason: str
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    await conn.execute(
        """update rag.crawls set settings = settings || '{"exclude_paths": ["^/private"]}'"""
    )
    send = Post(conn, "c1", await told(conn, run))
    redirected = document(url, "# Secret", source_url=DOOR)
    id = await send("crawl.page", redirected, document(SITE + "a", "# A"))

    await drain(inbox)

    rows = await page_rows(conn, run)
    page = rows[url]
    assert (page["status"], page["error_code"]) == ("skipped", reason)
    assert (page["event_id"], page["event_index"], page["job_id"]) == (None, None, None)
    assert (rows[SITE + "a"]["event_id"], rows[SITE + "a"]["event_index"]) == (id, 1)
    assert set(rows) == {url, SITE + "a"}
    assert (await crawl_of(conn, run)).page_count == 1


@pytest.mark.parametrize("origin", ["http://shop.test", "https://www.shop.test"])
async def test_a_site_may_write_itself_with_www_or_without_tls(
    conn: Connection, application_id: UUID, inbox: Inbox, origin: str
) -> None:
    run = await sent_run(conn, application_id, provider_id="c1")
    send = Post(conn, "c1", await told(conn, run))
    await send(
        "crawl.page", document(f"{origin}/door", "# Doors"), document(f"{origin}/", "# Home")
    )

    await drain(inbox)

    assert {row["status"] for row in (await page_rows(conn, run)).values()} == {"queued"}
    assert len(await child_jobs(conn, run)) == 2


async def test_pages_outside_of_the_run_are_skipped_and_not_stored(
    root: Root, firecrawl: FirecrawlServer, conn: Connection
) -> None:
    firecrawl.behaviours[SITE] = Behaviour(silent=True)
    firecrawl.sites[SITE] = {
        SITE: SitePage(markdown="# Home"),
        SITE + "a": SitePage(markdown="# Secret", redirects_to="http://169.254.169.254/latest"),
        "https://other.test/": SitePage(error="The scrape operation timed out"),
        SITE + "b": SitePage(markdown="# B"),
    }

    await root.until_end()

    assert await root.statuses() == {
        SITE: None,
        SITE + "b": None,
        "http://169.254.169.254/latest": "off_site",
        "https://other.test/": "off_site",
    }
    assert (await root.content(SITE + "b")).markdown == "# B"
    assert len(await child_jobs(conn, root.run)) == 2
    cursor = await conn.execute(
        "select count(*) from rag.webhook_events where body like '%# Secret%'"
    )
    assert await cursor.fetchone() == (0,)
