"""What repeats at the edges of a site's pages is found once per run and is in no chunk."""

from collections.abc import Callable, Iterable
from typing import Any
from uuid import UUID, uuid4

import pytest

from ingest.handlers.crawl import site_furniture
from ingest.handlers.documents.chunk_settings import chunking_defaults
from ingest.observability.metrics import REGISTRY
from ingest.postgres.database import Pool, transaction
from ingest.store.crawl.runs import StartedRun
from ingest.store.documents import chunking
from ingest.store.documents.chunking import ChunkingOverrides
from ingest.store.sources import source_views
from ingest.store.tenants import applications
from ingest.worker.commit import commit
from tests.servers.web_server import Answer, response
from tests.support.crawl.crawl_fixtures import SiteHouse, site_house

MENU = ("Fairway", "Tide tables", "Berths")
LEGAL = "The harbour office answers for none of the times that are printed on these pages."
SHARED = "Every ship that enters has to announce itself on channel twelve beforehand."


def own_text(number: int) -> str:
    word = f"pier{chr(ord('a') + number % 26)}{chr(ord('a') + number // 26)}"
    return f"Here lies {word}, which was built by hand and is used by the boats of {word} alone."


def page(*paragraphs: str, links: Iterable[str] = (), legal: str = LEGAL) -> Answer:
    """A page with a menu above its content, and a legal note and a date below it."""
    menu = "".join(f'<p><a href="/">{name}</a></p>' for name in MENU)
    content = "".join(f"<p>{text}</p>" for text in paragraphs)
    more = "".join(f'<a href="{link}">.</a>' for link in links)
    body = f"<body>{menu}{content}<p>{more}</p><p>{legal}</p><p>Printed in May 2026</p></body>"
    return response(f"<html>{body}</html>".encode(), headers={"Content-Type": "text/html"})


def site(count: int, content: Callable[[int], Iterable[str]] | None = None) -> dict[str, Answer]:
    """`count` pages, the first of which links to the others."""
    texts = content or (lambda number: (own_text(number),))
    links = [f"/{number}" for number in range(1, count)]
    others = {f"/{number}": page(*texts(number)) for number in range(1, count)}
    return {"/": page(*texts(0), links=links), **others}


async def chunks_with(house: SiteHouse, run: StartedRun, text: str) -> list[str]:
    """Paths of the pages that have this text in a chunk."""
    rows = await house.rows(
        "select distinct uri from rag.chunks join rag.documents as document"
        " on document.id = document_id where document.source_id = %s and content like %s",
        run.source_id,
        f"%{text}%",
    )
    return sorted(house.path(row["uri"]) for row in rows)


async def set_leave_out(
    house: SiteHouse, application_id: UUID, run: StartedRun, *, value: bool
) -> None:
    async with transaction(house.pool) as conn:
        await applications.lock_sources(conn, application_id)
        await chunking.set_for_sources(
            conn,
            application_id=application_id,
            source_ids=[run.source_id],
            own=ChunkingOverrides(leave_out_furniture=value),
            application=ChunkingOverrides(),
            defaults=chunking_defaults(house.context),
        )


async def stored(house: SiteHouse, run: StartedRun, column: str = "text") -> dict[str, Any]:
    rows = await house.rows("select * from rag.documents where source_id = %s", run.source_id)
    return {house.path(row["uri"]): row[column] for row in rows}


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
