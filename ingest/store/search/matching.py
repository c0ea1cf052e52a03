"""Resolves a selective filter to the documents that pass, once for all rankings of a search."""

from dataclasses import replace
from datetime import timedelta
from typing import Final

from ingest.postgres.database import Connection, load_queries
from ingest.store.search.scope import SearchScope

_SQL: Final = load_queries("search/matching.sql")
_MOST_DOCUMENTS: Final = 5000


async def narrowed(
    conn: Connection, scope: SearchScope, *, most_chunks: int, statement_timeout: timedelta
) -> SearchScope:
    """The scope with its documents, if they have at most `most_chunks` chunks; else unchanged.

    Needs its own transaction, across applications: below a policy the indexes of metadata are not
    used. Others see only what they may of the result. A statement that takes longer raises psycopg
    QueryCanceled.
    """
    timeout_ms = str(round(statement_timeout.total_seconds() * 1000))
    await conn.execute(_SQL["begin"], {"timeout_ms": timeout_ms})
    statement, parameters = scope.fill_in(_SQL["documents"])
    cursor = await conn.execute(
        statement, {**parameters, "most": _MOST_DOCUMENTS + 1}, prepare=False
    )
    documents = await cursor.fetchall()
    if len(documents) > _MOST_DOCUMENTS or sum(count for _, count in documents) > most_chunks:
        return scope
    return replace(scope, document_ids=[id for id, _ in documents])
