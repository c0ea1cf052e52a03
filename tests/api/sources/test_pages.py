"""Pages of documents: their pictures, and where chunks stand on them."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx

from ingest.blobs.local import LocalBlobStore
from ingest.errors import Permanent
from ingest.postgres.database import Connection, Pool
from ingest.runtime import Runtime
from ingest.ticks.cleanup import evict_page_images
from tests.api.fake_parser import FakePages
from tests.api.sources.paged_documents import add, derived, image


async def test_a_picture_is_drawn_once_and_kept(
    viewer: httpx.AsyncClient,
    editor: httpx.AsyncClient,
    conn: Connection,
    pages: FakePages,
    blobs: LocalBlobStore,
    application_id: UUID,
) -> None:
    id = await add(editor, conn)

    first = await image(viewer, id)
    again = await image(viewer, id, width=600)
    wider = await image(viewer, id, width=641)

    assert (first.status_code, first.content) == (200, b"picture 1")
    assert (again.content, wider.content) == (b"picture 1", b"picture 2")
    [(request, owner), (other, _)] = pages.rendered
    assert (request.page, request.width, other.width) == (1, 640, 1280)
    assert owner == application_id
    assert first.headers["content-type"] == "image/png"
    assert first.headers["cache-control"] == "private, no-cache"
    assert "Authorization" in first.headers["vary"]
    assert first.headers["x-content-type-options"] == "nosniff"
    assert first.headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert len(await derived(blobs)) == 2


async def test_a_known_picture_is_neither_drawn_nor_sent_but_access_is_checked(
    viewer: httpx.AsyncClient,
    stranger: httpx.AsyncClient,
    editor: httpx.AsyncClient,
    conn: Connection,
    pages: FakePages,
) -> None:
    id = await add(editor, conn)
    etag = (await image(viewer, id)).headers["etag"]

    known = await image(viewer, id, If_None_Match=etag)
    foreign = await image(stranger, id, If_None_Match=etag)
    await conn.execute("update rag.documents set content_hash = sha256('new')")
    replaced = await image(viewer, id, If_None_Match=etag)

    assert (known.status_code, known.content) == (304, b"")
    assert foreign.status_code == 404
    assert (replaced.status_code, replaced.content) == (200, b"picture 2")


async def test_the_picture_of_an_earlier_version_leaves_the_store(
    viewer: httpx.AsyncClient,
    editor: httpx.AsyncClient,
    conn: Connection,
    pages: FakePages,
    blobs: LocalBlobStore,
) -> None:
    id = await add(editor, conn)
    await image(viewer, id)
    before = await derived(blobs)

    await conn.execute("update rag.documents set content_hash = sha256('new')")
    await image(viewer, id)

    assert len(await derived(blobs)) == 1
    assert await derived(blobs) != before


async def test_a_picture_of_a_version_that_is_gone_meanwhile_is_not_kept(
    viewer: httpx.AsyncClient,
    editor: httpx.AsyncClient,
    conn: Connection,
    pages: FakePages,
    blobs: LocalBlobStore,
) -> None:
    id = await add(editor, conn)
    pages.gate = asyncio.Event()
    drawing = asyncio.create_task(image(viewer, id))
    await pages.begun.acquire()
    await conn.execute("update rag.documents set content_hash = sha256('new')")
    pages.gate.set()

    assert (await drawing).status_code == 200
    assert await derived(blobs) == []


async def test_those_who_ask_at_once_share_one_drawing(
    viewer: httpx.AsyncClient, editor: httpx.AsyncClient, conn: Connection, pages: FakePages
) -> None:
    id = await add(editor, conn)
    pages.gate = asyncio.Event()

    asked = [asyncio.create_task(image(viewer, id)) for _ in range(10)]
    await pages.begun.acquire()
    asked[0].cancel()
    await asyncio.sleep(0.05)
    pages.gate.set()
    answers = await asyncio.gather(*asked[1:])

    assert {answer.content for answer in answers} == {b"picture 1"}
    assert len(pages.rendered) == 1


async def test_a_kept_picture_that_is_lost_is_drawn_again(
    viewer: httpx.AsyncClient,
    editor: httpx.AsyncClient,
    conn: Connection,
    pages: FakePages,
    blobs: LocalBlobStore,
    blobs_on_disk: Path,
) -> None:
    id = await add(editor, conn)
    await image(viewer, id)
    await blobs.delete(await derived(blobs))
    lost = await image(viewer, id)
    [key] = await derived(blobs)
    (blobs_on_disk / key).write_bytes(b"cut")
    cut = await image(viewer, id)

    assert (lost.content, cut.content) == (b"picture 2", b"picture 3")


async def test_applications_that_draw_much_do_not_keep_others_from_it(
    viewer: httpx.AsyncClient,
    stranger: httpx.AsyncClient,
    editor: httpx.AsyncClient,
    conn: Connection,
    pages: FakePages,
    make_key: Any,
) -> None:
    mine, theirs = await add(editor, conn), await add(stranger, conn)
    pages.gate = asyncio.Event()

    asked = [asyncio.create_task(image(viewer, mine, page)) for page in (1, 2, 3)]
    await pages.begun.acquire()
    await pages.begun.acquire()
    other = asyncio.create_task(image(stranger, theirs))
    await pages.begun.acquire()  # the reserve is theirs
    # Any of the three may be the one without a place: they reach it in any order.
    done, drawing = await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
    pages.gate.set()
    await asyncio.gather(other, *drawing)

    (refused,) = [task.result() for task in done]
    assert (refused.status_code, refused.json()["code"]) == (503, "busy")
    assert int(refused.headers["retry-after"]) > 0
    owners = [owner for _, owner in pages.rendered]
    assert owners[0] == owners[1] != owners[2]


async def test_pictures_that_are_missing_say_why(
    viewer: httpx.AsyncClient,
    editor: httpx.AsyncClient,
    conn: Connection,
    pages: FakePages,
    runtime: Runtime,
) -> None:
    id = await add(editor, conn)

    def seen(answer: httpx.Response) -> tuple[int, str]:
        return answer.status_code, answer.json()["code"]

    assert seen(await image(viewer, id, 5)) == (404, "no_such_page")
    assert seen(await image(viewer, id, 0)) == (422, "invalid_request")
    assert seen(await image(viewer, str(uuid4()))) == (404, "not_found")
    pages.failures = [Permanent("The parser crashed.", code="parser_crashed")]
    assert seen(await image(viewer, id)) == (422, "parser_crashed")
    await conn.execute("update rag.documents set media_type = 'text/html'")
    assert seen(await image(viewer, id)) == (404, "no_page_images")
    await conn.execute("update rag.documents set media_type = 'application/pdf', uri = 'else'")
    assert seen(await image(viewer, id)) == (404, "original_not_stored")
    await conn.execute("update rag.documents set uri = 'a.pdf'")
    [[key]] = await (await conn.execute("select blob_key from rag.knowledge_sources")).fetchall()
    await runtime.blobs.delete([key])
    assert seen(await image(viewer, id, 2)) == (410, "invalid_request")


async def test_the_longest_unused_pictures_leave_first(
    viewer: httpx.AsyncClient,
    editor: httpx.AsyncClient,
    conn: Connection,
    pool: Pool,
    pages: FakePages,
    blobs: LocalBlobStore,
) -> None:
    id = await add(editor, conn)
    for page in (1, 2, 3):
        await image(viewer, id, page)
    await conn.execute("update rag.page_images set used_at = now() - page * interval '1 day'")
    await image(viewer, id, 3)  # used again

    removed = await evict_page_images(pool, blobs, budget=2 * (16384 + 9))

    assert removed == 1
    kept = await (await conn.execute("select page from rag.page_images order by page")).fetchall()
    assert kept == [(1,), (3,)]
    assert len(await derived(blobs)) == 2
    assert await evict_page_images(pool, blobs, budget=0) == 2
    assert await derived(blobs) == []
