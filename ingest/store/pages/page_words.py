"""Where the words of pages read by OCR stand; part of their documents (documents.py)."""

from collections.abc import Mapping, Sequence
from typing import Protocol
from uuid import UUID

from ingest.model import Document
from ingest.postgres.database import Connection, load_queries

_SQL = load_queries("pages/page_words.sql")


class Owned(Protocol):
    """A version of a document (NewDocument)."""

    @property
    def application_id(self) -> UUID: ...

    @property
    def source_id(self) -> UUID: ...

    @property
    def document(self) -> Document: ...


async def drop(conn: Connection, document_ids: Sequence[UUID]) -> None:
    """Remove those of earlier versions."""
    await conn.execute(_SQL["drop"], {"document_ids": list(document_ids)})


async def insert(conn: Connection, documents: Mapping[UUID, Owned]) -> None:
    """Store those of new versions, by document; documents without any cost nothing."""
    rows = [
        (id, words.page, new.application_id, new.source_id, words.packed)
        for id, new in documents.items()
        for words in new.document.page_words
    ]
    if rows:
        names = ("document_ids", "pages", "application_ids", "source_ids", "words")
        columns = map(list, zip(*rows, strict=True))
        await conn.execute(_SQL["insert"], dict(zip(names, columns, strict=True)))
