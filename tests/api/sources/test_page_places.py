"""Where the chunks of a document stand on its pages."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import httpx

from ingest.page_words import Word, pack, unpack
from ingest.postgres.database import Connection
from tests.api.conftest import connect
from tests.api.fake_parser import FakePages
from tests.api.helpers import finish_file_job, upload
from tests.api.sources.paged_documents import BOX, add, image
from tests.api.sources.test_originals import chunk_ids


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
