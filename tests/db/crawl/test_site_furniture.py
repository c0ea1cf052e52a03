"""What repeats at the edges of a site's pages is found once per run and is in no chunk."""

from uuid import UUID, uuid4

from ingest.postgres.database import Pool, transaction
from ingest.store.sources import source_views
from tests.db.crawl.site_with_furniture import (
    LEGAL,
    MENU,
    chunks_with,
    own_text,
    page,
    set_leave_out,
    site,
    stored,
)
from tests.servers.web_server import response
from tests.support.crawl.crawl_fixtures import SiteHouse, site_house

SHARED = "Every ship that enters has to announce itself on channel twelve beforehand."


async def shown_left_out(house: SiteHouse, application_id: UUID, document_id: UUID) -> list[str]:
    async with transaction(house.pool) as conn:
        found, foreign = [
            await source_views.left_out(
                conn, application_id=owner, document_id=document_id, limit=200
            )
            for owner in (application_id, uuid4())
        ]
    assert foreign == []
    return [block.text for block in found]


async def test_what_repeats_at_the_edges_is_left_out_of_every_page(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, site(12)) as house:
        run = await house.start(application_id)
        await house.run_all()
        texts = await stored(house, run)
        digest = (await house.crawl(run))["digest"]
        source = await house.source(run)
        ids = await stored(house, run, "id")
        left_out = {path: await shown_left_out(house, application_id, ids[path]) for path in ids}

        for name in MENU:
            assert await chunks_with(house, run, name) == []
        assert await chunks_with(house, run, "Printed in") == []
        # Prose may be all that the site says about it: one page keeps it.
        assert await chunks_with(house, run, "harbour office") == ["/"]
        for number in range(12):
            assert own_text(number) in texts[f"/{number}" if number else "/"]
    assert all(name not in text for name in MENU for text in texts.values())
    for blocks in left_out.values():
        assert all(any(name in block for block in blocks) for name in MENU)
    assert [path for path in ids if "harbour office" not in "".join(left_out[path])] == ["/"]
    assert digest["furniture"] == 5
    assert (source["status"], source["chunk_count"]) == ("completed", 12)


async def test_what_repeats_inside_the_content_stays(pool: Pool, application_id: UUID) -> None:
    def content(number: int) -> tuple[str, ...]:
        return own_text(number), SHARED, own_text(number + 100)

    async with site_house(pool, site(12, content)) as house:
        run = await house.start(application_id)
        await house.run_all()

        assert len(await chunks_with(house, run, "channel twelve")) == 12
        assert await chunks_with(house, run, "Berths") == []


async def test_a_small_site_keeps_what_its_pages_share(pool: Pool, application_id: UUID) -> None:
    async with site_house(pool, site(3)) as house:
        run = await house.start(application_id)
        await house.run_all()

        assert len(await chunks_with(house, run, "harbour office")) == 3
        assert (await house.crawl(run))["digest"]["furniture"] == 0


async def test_pages_without_a_text_of_their_own_stay_whole(
    pool: Pool, application_id: UUID
) -> None:
    answers = site(12)
    answers["/5"] = page()
    async with site_house(pool, answers) as house:
        run = await house.start(application_id)
        await house.run_all()

        assert await chunks_with(house, run, "Berths") == ["/5"]


async def test_the_page_about_a_note_keeps_it_above_the_one_at_its_foot(
    pool: Pool, application_id: UUID
) -> None:
    answers = site(12)
    answers["/5"] = page(LEGAL, own_text(5))
    async with site_house(pool, answers) as house:
        run = await house.start(application_id)
        await house.run_all()

        assert await chunks_with(house, run, "harbour office") == ["/", "/5"]
        assert (await stored(house, run))["/5"].count(LEGAL) == 1


async def test_a_decision_changes_no_page(pool: Pool, application_id: UUID) -> None:
    async with site_house(pool, site(12)) as house:
        run = await house.start(application_id)
        await house.run_all()
        before = await stored(house, run)
        run, calls, parsed = await house.again(application_id, run.source_id)
        digest = (await house.crawl(run))["digest"]

        assert (calls, parsed, digest["unchanged"], digest["furniture"]) == (0, 0, 12, 5)

        for path, answer in house.web.answers.items():
            assert isinstance(answer, bytes)
            body = answer.replace(b"</html>", b"</html><!-- other markup -->")
            house.web.answers[path] = response(
                body.partition(b"\r\n\r\n")[2], headers={"Content-Type": "text/html"}
            )
        run, calls, parsed = await house.again(application_id, run.source_id)
        digest = (await house.crawl(run))["digest"]

        assert (calls, parsed, digest["unchanged"]) == (0, 12, 12)
        assert await stored(house, run) == before


async def test_another_date_on_all_pages_embeds_nothing(pool: Pool, application_id: UUID) -> None:
    async with site_house(pool, site(12)) as house:
        run = await house.start(application_id)
        await house.run_all()
        for path, answer in house.web.answers.items():
            assert isinstance(answer, bytes)
            house.web.answers[path] = answer.replace(b"May 2026", b"May 2027")
        run, calls, _ = await house.again(application_id, run.source_id)

        assert calls == 0
        assert await chunks_with(house, run, "Printed in") == []


async def test_a_page_that_lost_only_furniture_did_not_collapse(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, site(12)) as house:
        run = await house.start(application_id)
        await house.run_all()
        await set_leave_out(house, application_id, run, value=False)
        house.web.answers["/7"] = page("A word of no more than fifty letters stands here now.")
        run, _, _ = await house.again(application_id, run.source_id)

        assert (await house.pages(run))["/7"]["status"] == "changed"
