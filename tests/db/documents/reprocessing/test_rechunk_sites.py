"""Pages of sites are cut as their source says, and cut again when that changes."""

from typing import Any
from uuid import UUID

from ingest.handlers.documents.chunk_settings import chunking_defaults
from ingest.postgres.database import Pool, transaction
from ingest.store.documents import chunking
from ingest.store.documents.chunking import ChunkingOverrides
from ingest.store.tenants import applications
from ingest.worker.commit import commit
from tests.support.crawl.crawl_fixtures import SiteHouse, html, site_house

SITE = {
    "/": html(" ".join(f"The harbour has {number} ships." for number in range(20)), "/a"),
    "/a": html(" ".join(f"The city has {number} streets." for number in range(20))),
}


async def set_of_source(
    house: SiteHouse, application_id: UUID, source_id: UUID, **own: Any
) -> None:
    async with transaction(house.pool) as conn:
        await applications.lock_sources(conn, application_id)
        await chunking.set_for_sources(
            conn,
            application_id=application_id,
            source_ids=[source_id],
            own=ChunkingOverrides(**own),
            application=ChunkingOverrides(),
            defaults=chunking_defaults(house.context),
        )


async def sizes(house: SiteHouse, source_id: UUID) -> set[int]:
    """By how many tokens the documents of a source are cut."""
    rows = await house.rows(
        "select (chunking ->> 'size')::int as size from rag.documents where source_id = %s",
        source_id,
    )
    return {row["size"] for row in rows}


async def test_a_site_is_cut_again_without_being_fetched(pool: Pool, application_id: UUID) -> None:
    async with site_house(pool, SITE) as house:
        run = await house.start(application_id)
        await set_of_source(house, application_id, run.source_id, size=80)
        await house.run_all()
        first = await sizes(house, run.source_id)
        before = await house.source(run)
        parsed, seen = house.parser.calls, len(house.web.requests)

        await set_of_source(house, application_id, run.source_id, size=40)
        await house.run_all()

        assert (first, await sizes(house, run.source_id)) == ({80}, {40})
        after = await house.source(run)
        assert (house.parser.calls, len(house.web.requests)) == (parsed, seen)
    assert after["status"] == "completed"
    assert after["chunk_count"] > before["chunk_count"]
    counted = await _chunks(house, run.source_id)
    assert counted == after["chunk_count"]


async def test_settings_that_change_while_a_page_is_read_are_applied_to_it(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, SITE) as house:
        run = await house.start(application_id, type="url")
        [job] = await house.claim()
        finished = await house.attempt(job)
        assert finished is not None

        await set_of_source(house, application_id, run.source_id, size=40)
        await commit(pool, [finished])
        stored = await sizes(house, run.source_id)
        await house.run_all()

        assert stored == {100}
        assert await sizes(house, run.source_id) == {40}


async def test_unchanged_rescrape_does_not_hide_new_chunk_settings(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, SITE) as house:
        run = await house.start(application_id)
        await house.run_all()
        await set_of_source(house, application_id, run.source_id, size=40)

        await house.again(application_id, run.source_id)

        assert await sizes(house, run.source_id) == {40}


async def _chunks(house: SiteHouse, source_id: UUID) -> int:
    [row] = await house.rows(
        "select count(*) as n from rag.chunks join rag.embeddings on chunk_id = id "
        "where source_id = %s",
        source_id,
    )
    return int(row["n"])
