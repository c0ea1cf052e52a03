"""The stored bytes that a document was read from."""

from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import class_row

from ingest.postgres.database import Connection, load_queries

_SQL = load_queries("documents/originals.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    uri: str
    media_type: str
    content_hash: bytes
    """SHA-256 of the bytes."""
    blob_key: str | None
    """None: the bytes are not stored, as of web pages."""
    size_bytes: int | None


async def find(conn: Connection, *, application_id: UUID, document_id: UUID) -> Original | None:
    """None if there is no such document."""
    async with conn.cursor(row_factory=class_row(Original)) as cur:
        await cur.execute(
            _SQL["find"], {"application_id": application_id, "document_id": document_id}
        )
        return await cur.fetchone()
