"""Where the words of pages read by OCR stand; part of their documents (documents.py)."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from ingest.page_words import PageWords
from ingest.postgres.database import Connection, load_queries

_SQL = load_queries("documents/page_words.sql")


class WordsOf(NamedTuple):
    document_id: UUID
    application_id: UUID
    source_id: UUID
    pages: Sequence[PageWords]


async def drop(conn: Connection, document_ids: Sequence[UUID]) -> None:
    """Remove those of earlier versions."""
    await conn.execute(_SQL["drop"], {"document_ids": list(document_ids)})


async def insert(conn: Connection, documents: Sequence[WordsOf]) -> None:
    """Store those of new versions; documents without any cost nothing."""
    rows = [
        (new.document_id, words.page, new.application_id, new.source_id, words.packed)
        for new in documents
        for words in new.pages
    ]
    if rows:
        names = ("document_ids", "pages", "application_ids", "source_ids", "words")
        columns = map(list, zip(*rows, strict=True))
        await conn.execute(_SQL["insert"], dict(zip(names, columns, strict=True)))
