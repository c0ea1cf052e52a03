"""The furniture of a site over several runs: decided anew, switched off, repeated, failing."""

from uuid import UUID

import pytest

from ingest.handlers.crawl import site_furniture
from ingest.observability.metrics import REGISTRY
from ingest.postgres.database import Pool, transaction
from ingest.worker.commit import commit
from tests.db.crawl.site_with_furniture import (
    LEGAL,
    chunks_with,
    own_text,
    page,
    set_leave_out,
    site,
    stored,
)
from tests.support.crawl.crawl_fixtures import site_house


async def test_switched_off_the_stored_pages_get_everything_back(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, site(12)) as house:
        run = await house.start(application_id)
        await set_leave_out(house, application_id, run, value=False)
        await house.run_all()
        whole = await stored(house, run)
        assert len(await chunks_with(house, run, "Berths")) == 12
        assert (await house.crawl(run))["digest"]["furniture"] == 0

        await set_leave_out(house, application_id, run, value=True)
        await house.again(application_id, run.source_id)
        assert await chunks_with(house, run, "Berths") == []

        asked = len(house.web.requests)
        await set_leave_out(house, application_id, run, value=False)
        await house.run_all()

        assert len(house.web.requests) == asked
        assert await stored(house, run) == whole
        assert not any((await stored(house, run, "furniture")).values())
        assert len(await chunks_with(house, run, "Berths")) == 12


async def test_what_is_no_longer_there_is_decided_anew(pool: Pool, application_id: UUID) -> None:
    async with site_house(pool, site(12)) as house:
        run = await house.start(application_id)
        await house.run_all()
        for path in house.web.answers:
            number = int(path[1:] or 0)
            links = [f"/{other}" for other in range(1, 12)] if path == "/" else []
            house.web.answers[path] = page(own_text(number), links=links, legal="Elsewhere.")
        house.web.answers["/5"] = page(LEGAL, own_text(5), legal="Elsewhere.")
        run, _, _ = await house.again(application_id, run.source_id)

        assert await chunks_with(house, run, "harbour office") == ["/5"]
        assert await chunks_with(house, run, "Berths") == []


async def test_a_first_run_decides_early_and_embeds_later_pages_once(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, site(60)) as house:
        run = await house.start(application_id)
        await house.run_all()
        embedded = [text for request in house.embedder.requests for text in request]

        assert await chunks_with(house, run, "Berths") == []
    with_menu = [text for text in embedded if "Berths" in text]
    assert len(with_menu) == 32


async def test_a_run_that_ends_twice_decides_the_same(pool: Pool, application_id: UUID) -> None:
    async with site_house(pool, site(12)) as house:
        run = await house.start(application_id)
        for _ in range(13):
            [job] = await house.claim()
            await house.carry_out(job)
        await house.make_due()
        [root] = await house.claim()
        assert root.type == "site_crawl"
        lost, ended = await house.attempt(root), await house.attempt(root)
        assert lost is not None
        assert ended is not None
        await commit(pool, [ended])
        first = await house.rows("select blocks, digest from rag.site_furniture")
        await commit(pool, [lost])
        await house.run_all()

        assert await house.rows("select blocks, digest from rag.site_furniture") == first
        assert len(first[0]["blocks"]) == 5
        assert await chunks_with(house, run, "Berths") == []


async def test_a_decision_that_fails_costs_neither_the_run_nor_the_last_decision(
    pool: Pool, application_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a bug")

    labels = {"format": "site", "step": "furniture"}
    name = "rag_ingest_parser_steps_skipped_total"
    before = REGISTRY.get_sample_value(name, labels) or 0
    async with site_house(pool, site(12)) as house:
        run = await house.start(application_id)
        await house.run_all()
        house.web.answers["/5"] = page(own_text(50))
        with monkeypatch.context() as patch:
            patch.setattr(site_furniture, "decide", fail)
            run, _, _ = await house.again(application_id, run.source_id)

        assert (await house.source(run))["status"] == "completed"
        assert await chunks_with(house, run, "Berths") == []
        assert (await house.crawl(run))["digest"]["furniture"] == 5
    assert REGISTRY.get_sample_value(name, labels) == before + 1


async def test_a_deleted_site_leaves_no_decision_behind(pool: Pool, application_id: UUID) -> None:
    async with site_house(pool, site(12)) as house:
        run = await house.start(application_id)
        await house.run_all()
        assert len(await house.rows("select 1 as one from rag.site_furniture")) == 1
        async with transaction(pool) as conn:
            await conn.execute("delete from rag.knowledge_sources where id = %s", [run.source_id])

        assert await house.rows("select 1 as one from rag.site_furniture") == []
