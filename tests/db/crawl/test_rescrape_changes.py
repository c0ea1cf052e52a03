"""A later run of a site or page: what has not changed costs nothing, what is gone goes safely."""

from uuid import UUID

import pytest

from ingest.postgres.database import Pool
from tests.servers.web_server import response
from tests.support.crawl.crawl_fixtures import five_pages, html, site_house

_LONG = " ".join(f"Sentence number {n} of the long story." for n in range(60))


async def test_an_unchanged_site_costs_no_embedding_and_no_parsing(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, five_pages()) as house:
        run = await house.start(application_id)
        await house.run_all()
        before = await house.texts(run)
        run, calls, parsed = await house.again(application_id, run.source_id)
        digest = (await house.crawl(run))["digest"]

        assert (calls, parsed) == (0, 0)
        assert await house.texts(run) == before
        assert (await house.source(run))["status"] == "completed"
    assert (digest["unchanged"], digest["new"], digest["changed"]) == (5, 0, 0)
    assert digest["tokensSaved"] > digest["tokensSpent"] == 0


async def test_lines_of_context_are_spent_and_saved_like_the_texts_behind_them(
    pool: Pool, application_id: UUID
) -> None:
    page = html(_LONG, title="The owl of the story")
    async with site_house(pool, {"/": page, "/a": html("A.")}) as house:
        run = await house.start(application_id)
        await house.run_all()
        first = (await house.crawl(run))["digest"]
        house.web.answers["/"] = html(_LONG + " One more sentence.", title="The owl of the story")
        run, _, _ = await house.again(application_id, run.source_id)
        second = (await house.crawl(run))["digest"]

    assert first["tokensSpent"] > first["tokensSaved"] == 0
    assert 0 < second["tokensSpent"] < second["tokensSaved"] < first["tokensSpent"]


async def test_304_response_causes_no_further_request(pool: Pool, application_id: UUID) -> None:
    site = {
        "/": html("Home.", "/a", headers={"ETag": '"1"'}),
        "/a": html("A.", headers={"Last-Modified": "Mon, 02 Nov 2026 10:00:00 GMT"}),
    }
    async with site_house(pool, site) as house:
        run = await house.start(application_id)
        await house.run_all()
        house.web.answers |= {"/": response(status=304), "/a": response(status=304)}
        run, calls, _ = await house.again(application_id, run.source_id)
        asked = {request.path: request.headers for request in house.web.requests[-2:]}

        assert calls == 0
        assert await house.documents(run) == {"/", "/a"}
    assert asked["/"]["if-none-match"] == '"1"'
    assert asked["/a"]["if-modified-since"] == "Mon, 02 Nov 2026 10:00:00 GMT"


async def test_other_markup_around_the_same_text_embeds_nothing(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, {"/": html("The text.", head="<meta name=a>")}) as house:
        run = await house.start(application_id)
        await house.run_all()
        house.web.answers["/"] = html("The text.", head="<meta name=b>")
        run, calls, parsed = await house.again(application_id, run.source_id)
        pages = await house.pages(run)

        assert (calls, parsed) == (0, 1)
    assert pages["/"]["status"] == "unchanged"


async def test_of_a_changed_page_only_the_changed_chunks_are_embedded(
    pool: Pool, application_id: UUID
) -> None:
    # The title is embedded with each chunk, and is none of its tokens.
    async with site_house(pool, {"/": html(_LONG, title="The story")}) as house:
        run = await house.start(application_id)
        await house.run_all()
        first = (await house.crawl(run))["digest"]
        [before] = await house.rows("select count(*) as n from rag.chunks")
        house.embedder.requests.clear()
        one_more = _LONG + " And one more sentence at the very end."
        house.web.answers["/"] = html(one_more, title="The story")
        run, _, _ = await house.again(application_id, run.source_id)
        digest = (await house.crawl(run))["digest"]

    embedded = [text for request in house.embedder.requests for text in request]
    assert before["n"] > 3
    assert (first["tokensSpent"] > 0, first["tokensSaved"]) == (True, 0)
    assert 0 < len(embedded) <= 2
    assert digest["changed"] == 1
    assert digest["tokensSaved"] > digest["tokensSpent"] > 0


async def test_rescrape_counts_changed_removed_and_new_pages(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, five_pages()) as house:
        run = await house.start(application_id)
        await house.run_all()
        house.web.answers |= {
            "/": html("Home of the story.", "/a", "/b", "/c", "/e"),
            "/a": html("Page a, second edition."),
            "/b": html("Page b, second edition."),
            "/d": response(status=404),
            "/e": html("Page e."),
        }
        run, _, _ = await house.again(application_id, run.source_id)
        digest = (await house.crawl(run))["digest"]
        source = await house.source(run)

        assert await house.documents(run) == {"/", "/a", "/b", "/c", "/e"}
        assert "Page d." not in await house.texts(run)
        assert (await house.pages(run))["/d"]["status"] == "removed"
    counts = {name: digest[name] for name in ("new", "changed", "unchanged", "removed", "failed")}
    assert counts == {"new": 1, "changed": 3, "unchanged": 1, "removed": 1, "failed": 0}
    assert source["chunk_count"] == 5


async def test_two_nights_in_a_row_make_no_duplicates(pool: Pool, application_id: UUID) -> None:
    async with site_house(pool, five_pages()) as house:
        run = await house.start(application_id)
        await house.run_all()
        for _ in range(3):
            run, _, _ = await house.again(application_id, run.source_id)
        [chunks] = await house.rows("select count(*) as n from rag.chunks")
        [docs] = await house.rows("select count(*) as n from rag.documents")

        assert (chunks["n"], docs["n"]) == (5, 5)


async def test_rescrapes_see_the_same_part_of_an_endless_calendar(
    pool: Pool, application_id: UUID
) -> None:
    site = {"/": html("Home.", "/calendar?m=0")}
    for m in range(-30, 31):
        site[f"/calendar?m={m}"] = html(
            f"Events of month {m}.", f"/calendar?m={m - 1}", f"/calendar?m={m + 1}"
        )
    async with site_house(pool, site) as house:
        run = await house.start(application_id, variants=20)
        await house.run_all()
        first = await house.documents(run)
        # Tonight the calendar begins with other months.
        house.web.answers["/"] = html("Home.", "/calendar?m=0", "/calendar?m=18", "/calendar?m=-18")
        run, calls, _ = await house.again(application_id, run.source_id)
        digest = (await house.crawl(run))["digest"]

        assert len(first) == 21
        assert await house.documents(run) == first
    assert calls == 1  # the home page
    assert (digest["removed"], digest["new"]) == (0, 0)


async def test_another_embedding_model_makes_every_page_new_to_it(
    pool: Pool, application_id: UUID
) -> None:
    async with site_house(pool, five_pages()) as house:
        run = await house.start(application_id)
        await house.run_all()
        [other] = await house.rows(
            "insert into rag.embedding_models (provider, name, dimension)"
            " values ('local', 'other', 8) returning id"
        )
        house.model_id = other["id"]
        run, calls, _ = await house.again(application_id, run.source_id)
        [vectors] = await house.rows(
            "select count(*) as n from rag.embeddings where model_id = %s", other["id"]
        )

        assert vectors["n"] == 5
        assert calls > 0


@pytest.mark.parametrize("type", ["url", "site"])
async def test_single_page_rescrape_skips_unchanged_steps(
    pool: Pool, application_id: UUID, type: str
) -> None:
    async with site_house(pool, {"/page": html("The page.", "/other")}) as house:
        run = await house.start(application_id, "/page", type=type, limit=1)
        await house.run_all()
        first = await house.source(run)
        run, calls, parsed = await house.again(application_id, run.source_id)
        second, crawl = await house.source(run), await house.crawl(run)

    assert (first["status"], second["status"]) == ("completed", "completed")
    assert (calls, parsed) == (0, 0)
    assert crawl["digest"]["unchanged"] == 1
    assert second["chunk_count"] == 1


async def test_single_page_with_404_keeps_its_chunks(pool: Pool, application_id: UUID) -> None:
    async with site_house(pool, {"/page": html("The page.")}) as house:
        run = await house.start(application_id, "/page", type="url")
        await house.run_all()
        house.web.answers["/page"] = response(status=404)
        run, _, _ = await house.again(application_id, run.source_id)
        source = await house.source(run)

        assert (source["status"], source["error_code"]) == ("failed", "fetch_status")
        assert len(await house.texts(run)) == 1
