"""A document with pages, its pictures and its places."""

import json
from datetime import timedelta
from uuid import UUID

import httpx

from ingest.blobs.local import LocalBlobStore
from ingest.postgres.database import Connection
from tests.api.helpers import finish_file_job, upload

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
