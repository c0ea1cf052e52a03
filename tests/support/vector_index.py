"""Counts of vectors in the buffer and in the index."""

from uuid import UUID

from ingest.postgres.database import Connection
from ingest.store.embeddings import fresh_vectors


async def count_fresh(conn: Connection) -> int:
    return await _count(conn, "rag.embeddings_fresh")


async def count_indexed(conn: Connection) -> int:
    return await _count(conn, "only rag.embeddings")


async def _count(conn: Connection, part: str) -> int:
    row = await (await conn.execute(f"select count(*) from {part}".encode())).fetchone()
    assert row is not None
    return int(row[0])


async def index_all(conn: Connection) -> int:
    """Move all vectors into the index; returns their number."""
    cursor = await conn.execute("select id from rag.embedding_models")
    models = [row[0] for row in await cursor.fetchall()]
    return sum([await _index(conn, model_id) for model_id in models])


async def _index(conn: Connection, model_id: int) -> int:
    total = 0
    while moved := await fresh_vectors.move(conn, model_id, limit=1000):
        total += moved
    return total


async def delete_chunks(conn: Connection, source_id: UUID) -> None:
    await conn.execute("delete from rag.chunks where source_id = %s", [source_id])
