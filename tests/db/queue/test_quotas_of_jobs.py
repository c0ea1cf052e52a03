"""Quotas of what jobs add themselves: files inside files, text of pages, pages of a crawl."""

from uuid import UUID

from ingest.postgres.database import Connection, Pool
from ingest.quotas import DEFAULTS
from ingest.store.limits import usage
from tests.builders import make_files
from tests.builders.make_archives import zip_of
from tests.support.archive_fixtures import ArchiveHouse, jobs_of, source, texts
from tests.support.crawl.crawl_fixtures import html, site_house
from tests.support.queue_builders import set_quotas


async def test_an_archive_whose_files_do_not_fit_fails_and_keeps_no_bytes(
    archives: ArchiveHouse, conn: Connection, application_id: UUID, tmp_path: object
) -> None:
    data = zip_of({"a.txt": b"word " * 1000, "b.txt": b"text " * 1000})
    await set_quotas(conn, application_id, stagedBytes=len(data) + 9_999)

    id = await archives.ingest(application_id, "docs.zip", data)

    assert len(data) < 9_999
    row = await source(conn, id)
    assert (row["status"], row["error_code"]) == ("failed", "quota_exceeded")
    assert "quota stagedBytes" in row["error_message"]
    assert await texts(conn, id) == {}
    assert "archive docs.zip" in await jobs_of(conn, id)

    await set_quotas(conn, application_id)
    again = await archives.ingest(application_id, "again.zip", data)
    assert len(await texts(conn, again)) == 2


async def test_a_small_file_whose_text_does_not_fit_fails(
    archives: ArchiveHouse, conn: Connection, application_id: UUID
) -> None:
    data = make_files.docx(["A long text, again and again. " * 10_000])
    await set_quotas(conn, application_id, storedBytes=len(data) + 100_000)

    id = await archives.ingest(application_id, "a.docx", data)

    assert len(data) < 100_000
    row = await source(conn, id)
    assert (row["status"], row["error_code"]) == ("failed", "quota_exceeded")
    assert "quota storedBytes" in row["error_message"]
    assert await texts(conn, id) == {}


async def test_pages_beyond_the_stored_bytes_fail_and_remove_nothing(
    conn: Connection, pool: Pool, application_id: UUID
) -> None:
    site = {
        "/": html("Home.", "/a", "/b"),
        "/a": html("Page a. " + "A long text. " * 50),
        "/b": html("Page b. " + "A long story. " * 50),
    }
    async with site_house(pool, site) as house:
        first = await house.start(application_id)
        await house.run_all()
        used = (await usage.room(conn, application_id, DEFAULTS)).used.stored_bytes
        await set_quotas(conn, application_id, storedBytes=used + 100)
        house.web.answers["/"] = html("Home.", "/a", "/c")
        house.web.answers["/c"] = html("Page c. " + "A long tale. " * 50)
        again = await house.rescrape(application_id, first.source_id)
        await house.run_all()
        pages, crawl = await house.pages(again), await house.crawl(again)

        assert await house.documents(again) == {"/", "/a", "/b"}
    assert (pages["/c"]["status"], pages["/c"]["error_code"]) == ("failed", "quota_exceeded")
    assert (crawl["status"], crawl["is_complete"]) == ("completed", False)
    assert crawl["digest"]["failed"] == 1


async def test_pages_without_room_for_their_jobs_wait_and_then_say_so(
    conn: Connection, pool: Pool, application_id: UUID
) -> None:
    site = {f"/{n}": html(f"Page number {n}.") for n in range(8)}
    site["/"] = html("Home.", *[f"/{n}" for n in range(8)])
    async with site_house(pool, site) as house:
        run = await house.start(application_id)
        # The root job, the page that is being read, and two more.
        await set_quotas(conn, application_id, pendingJobs=4)
        await house.run_all()
        pages, crawl = await house.pages(run), await house.crawl(run)

        read = await house.documents(run)
    refused = {path for path, page in pages.items() if page["error_code"] == "quota_exceeded"}
    assert read | refused == {"/", *(f"/{n}" for n in range(8))}
    assert not read & refused
    assert len(read) > 3  # pages that end make room for others
    assert {pages[path]["status"] for path in refused} <= {"failed"}
    assert crawl["is_complete"] is not bool(refused)


async def test_pages_that_never_get_a_job_are_failed_by_the_code(
    conn: Connection, pool: Pool, application_id: UUID
) -> None:
    site = {"/": html("Home.", "/a", "/b"), "/a": html("Page a."), "/b": html("Page b.")}
    async with site_house(pool, site) as house:
        run = await house.start(application_id)
        await house.carry_out((await house.claim())[0])  # the start page is queued
        await set_quotas(conn, application_id, pendingJobs=1)
        await house.run_all()
        pages, crawl = await house.pages(run), await house.crawl(run)

    assert {path: page["error_code"] for path, page in pages.items()} == {
        "/": None,
        "/a": "quota_exceeded",
        "/b": "quota_exceeded",
    }
    assert "pendingJobs" in pages["/a"]["error_message"]
    assert (crawl["status"], crawl["is_complete"]) == ("completed", False)
