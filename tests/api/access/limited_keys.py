"""An application with two sources in collections, and a key that is limited to one of them."""

from dataclasses import dataclass
from uuid import UUID

import httpx

from ingest.postgres.database import Connection
from tests.api.access.test_collections import files, make


@dataclass(frozen=True)
class Owned:
    source: str
    document: str
    chunk: str
    job: str
    collection: str

    def url(self, path: str) -> str:
        return path.format(**vars(self)).replace("{page}", "1")


@dataclass(frozen=True)
class House:
    shown: Owned
    hidden: Owned
    key: str


async def add_owned(editor: httpx.AsyncClient, conn: Connection, name: str) -> Owned:
    collection = await make(editor, name)
    [source] = await files(editor, conn, f"{name} heron", collectionId=collection)
    # Whose pages have pictures.
    await conn.execute("update rag.documents set media_type = 'application/pdf'")
    cursor = await conn.execute(
        "select document.id, chunk.id, job.id from rag.documents as document "
        "join rag.chunks as chunk on chunk.document_id = document.id "
        "join rag.processing_jobs as job on job.knowledge_source_id = document.source_id "
        "where document.source_id = %s",
        [source],
    )
    [row] = await cursor.fetchall()
    document, chunk, job = map(str, row)
    return Owned(source, document, chunk, job, collection)


async def limited_key(admin: httpx.AsyncClient, application_id: UUID, *ids: str) -> str:
    body = {"name": "reader", "role": "viewer", "collectionIds": list(ids)}
    answer = await admin.post(f"/api/applications/{application_id}/keys", json=body)
    assert answer.status_code == 201, answer.text
    assert answer.json()["collectionIds"] == sorted(ids)
    return str(answer.json()["key"])
