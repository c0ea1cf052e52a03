"""Pages of documents: their pictures, and where chunks stand on them."""

import asyncio
import json
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx

from ingest.blobs.local import LocalBlobStore
from ingest.errors import Permanent
from ingest.page_words import Word, pack, unpack
from ingest.postgres.database import Connection, Pool
from ingest.runtime import Runtime
from ingest.ticks.cleanup import evict_page_images
from tests.api.conftest import connect
from tests.api.fake_parser import FakePages
from tests.api.helpers import finish_file_job, upload
from tests.api.sources.test_originals import chunk_ids

BOX = (0.1, 0.2, 0.9, 0.25)
COVERAGE = {
    "pages": 4,
    "withText": 3,
    "byOcr": 1,
    "empty": 0,
    "unread": 1,
    "failed": 0,
    "lost": [4],
}


async def add(editor: httpx.AsyncClient, conn: Connection, *, path: str = "a.pdf") -> str:
    """A PDF of four pages whose second chunk continues on the second page."""
    file = (await upload(editor, {path: path.encode()})).json()["files"][0]
    id = await finish_file_job(conn, UUID(file["jobId"]), chunks=("one", "two", "three"))
    await conn.execute(
        "update rag.documents set media_type = 'application/pdf', "
        "text = 'one tw\n\no\n\nthree\n\n', "
        "pages = '[[1,0,6],[2,8,9],[3,11,16],[4,18,18]]', coverage = %s where id = %s",
        [json.dumps(COVERAGE), id],
    )
    for ordinal, (start, end) in enumerate([(0, 3), (4, 9), (11, 16)]):
        await conn.execute(
            "update rag.chunks set char_start = %s, char_end = %s where document_id = %s "
            "and ordinal = %s",
            [start, end, id, ordinal],
        )
    return str(id)


async def image(
    client: httpx.AsyncClient, id: str, page: int = 1, width: int = 640, **headers: str
) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    path = f"/api/documents/{id}/pages/{page}.png"
    return await client.get(path, params={"width": width}, headers=named)


async def derived(blobs: LocalBlobStore) -> list[str]:
    return [key async for key in blobs.list_keys(older_than=timedelta(0), prefix="derived/")]


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


async def test_pages_have_their_ranges_and_states(
    viewer: httpx.AsyncClient, editor: httpx.AsyncClient, conn: Connection
) -> None:
    id = await add(editor, conn)
    await keep_words(conn, id, 3, [Word("three", BOX)])

    shown = (await viewer.get(f"/api/documents/{id}/pages")).json()

    assert shown == {
        "count": 4,
        "items": [
            {"number": 1, "start": 0, "end": 6, "state": "text"},
            {"number": 2, "start": 8, "end": 9, "state": "text"},
            {"number": 3, "start": 11, "end": 16, "state": "ocr"},
            {"number": 4, "start": 18, "end": 18, "state": "unread"},
        ],
        "characters": 18,
        "images": "available",
        "isOcr": False,
    }
    part = await viewer.get(f"/api/documents/{id}/text", params={"start": 11, "end": 16})
    assert part.text == "three"
    assert (await viewer.get(f"/api/documents/{id}/text", params={"start": 11})).text == "three\n\n"


async def test_a_document_without_pages_has_one_without_a_picture(
    viewer: httpx.AsyncClient, editor: httpx.AsyncClient, conn: Connection
) -> None:
    file = (await upload(editor, {"a.txt": b"text"})).json()["files"][0]
    id = await finish_file_job(conn, UUID(file["jobId"]))

    shown = (await viewer.get(f"/api/documents/{id}/pages")).json()

    assert (shown["count"], shown["items"], shown["images"]) == (1, [], "no_page_images")


async def keep_words(conn: Connection, id: str, page: int, words: Sequence[Word]) -> None:
    await conn.execute(
        "insert into rag.page_words (document_id, page, application_id, source_id, words) "
        "select id, %s, application_id, source_id, %s from rag.documents where id = %s",
        [page, pack(words), id],
    )


async def places(client: httpx.AsyncClient, id: str, page: int, **query: str) -> httpx.Response:
    return await client.get(f"/api/documents/{id}/pages/{page}/places", params=query)


async def test_chunks_have_places_on_each_of_their_pages(
    viewer: httpx.AsyncClient, editor: httpx.AsyncClient, conn: Connection, pages: FakePages
) -> None:
    id = await add(editor, conn)
    first, second, _ = await chunk_ids(conn)
    pages.places = {"one": (BOX,), "tw": (BOX, BOX), "o": (BOX,)}

    all_of_page = (await places(viewer, id, 1)).json()
    only = (await places(viewer, id, 2, chunkId=str(second))).json()
    elsewhere = await places(viewer, id, 2, chunkId=str(first))

    assert all_of_page == {
        "page": 1, "width": 600, "height": 800, "source": "text_layer", "isTruncated": False,
        "places": [
            {"chunkId": str(first), "ordinal": 0, "boxes": [list(BOX)]},
            {"chunkId": str(second), "ordinal": 1, "boxes": [list(BOX), list(BOX)]},
        ],
    }  # fmt: skip
    assert only["places"] == [{"chunkId": str(second), "ordinal": 1, "boxes": [list(BOX)]}]
    assert elsewhere.status_code == 404
    listed = (await viewer.get(f"/api/documents/{id}/chunks", params={"start": 8, "end": 9})).json()
    assert [chunk["id"] for chunk in listed["items"]] == [str(second)]


async def test_pages_read_by_ocr_are_searched_by_their_stored_words(
    viewer: httpx.AsyncClient, editor: httpx.AsyncClient, conn: Connection, pages: FakePages
) -> None:
    id = await add(editor, conn)
    await keep_words(conn, id, 3, [Word("three", BOX)])
    pages.places = {"three": (BOX,)}
    found = (await places(viewer, id, 3)).json()
    pages.places = {}
    without = (await places(viewer, id, 1)).json()

    assert found["source"] == "ocr"
    assert pages.located[0].words is not None
    assert [word.text for word in unpack(pages.located[0].words)] == ["three"]
    assert without["source"] == "none"
    assert [place["boxes"] for place in without["places"]] == [[], []]


async def test_all_chunks_of_a_document_are_listed_in_pages(
    viewer: httpx.AsyncClient, editor: httpx.AsyncClient, conn: Connection
) -> None:
    id = await add(editor, conn)

    first = (await viewer.get(f"/api/documents/{id}/chunks", params={"limit": 2})).json()
    rest = (
        await viewer.get(f"/api/documents/{id}/chunks", params={"cursor": first["nextCursor"]})
    ).json()

    assert [chunk["ordinal"] for chunk in first["items"]] == [0, 1]
    assert [chunk["ordinal"] for chunk in rest["items"]] == [2]
    assert rest["nextCursor"] is None


async def test_chunks_name_all_sections_that_they_contain(
    viewer: httpx.AsyncClient, editor: httpx.AsyncClient, conn: Connection
) -> None:
    id = await add(editor, conn)
    found = await conn.execute("select source_id from rag.documents where id = %s", [id])
    (source,) = await found.fetchone() or (None,)
    await conn.execute(
        """update rag.chunks set headings = '{A,B}', sections = '[[5,1,"C"],[7,0,"D"]]'
            where document_id = %s and ordinal = 1""",
        [id],
    )

    of_document = (await viewer.get(f"/api/documents/{id}/chunks")).json()["items"]
    of_source = (await viewer.get(f"/api/knowledge-sources/{source}/chunks")).json()["items"]

    for listed in (of_document, of_source):
        assert listed[1]["headings"] == ["A", "B"]
        assert listed[1]["sections"] == [["A", "B"], ["A", "C"], ["D"]]


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


async def test_limited_keys_see_pages_of_their_collections_only(
    app: Any, admin: httpx.AsyncClient, editor: httpx.AsyncClient, conn: Connection,
    application_id: UUID, pages: FakePages,
) -> None:  # fmt: skip
    shown, hidden = await add(editor, conn), await add(editor, conn, path="b.pdf")
    made = await editor.post("/api/collections", json={"name": "c"})
    collection = made.json()["id"]
    row = await (
        await conn.execute("select source_id from rag.documents where id = %s", [shown])
    ).fetchone()
    assert row is not None
    await editor.post(
        f"/api/collections/{collection}/knowledge-sources", json={"add": [str(row[0])]}
    )
    key = await admin.post(
        f"/api/applications/{application_id}/keys",
        json={"name": "limited", "role": "viewer", "collectionIds": [collection]},
    )
    async with connect(app, key.json()["key"]) as limited:
        assert (await image(limited, shown)).status_code == 200
        assert (await image(limited, shown)).content == b"picture 1"
        assert (await places(limited, shown, 1)).status_code == 200
        assert (await image(limited, hidden)).status_code == 404
        assert (await places(limited, hidden, 1)).status_code == 404
