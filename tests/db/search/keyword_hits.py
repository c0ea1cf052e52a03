"""Texts that a search by words finds."""

from uuid import UUID

from ingest.postgres.database import Connection
from ingest.store.search.scope import SearchScope
from tests.support.searchable_chunks import found_by_words, texts


async def keyword(
    conn: Connection, application_id: UUID, query: str, *, most: int = 1000
) -> list[str]:
    scope = SearchScope(application_id=application_id)
    found = await found_by_words(conn, scope, query, most=most)
    return await texts(conn, [hit.id for hit in found[:10]])
