"""Make the terms of chunks that lack them: of an earlier version, a huge text, a renamed file.

One document per transaction, so a killed process loses one at most, and replacing a document waits
for one at most. Until then such chunks are found by their vectors, or by their earlier terms.
"""

import asyncio

import structlog

from ingest.analysis.chunk_terms import IndexedTerms, terms_of_texts
from ingest.analysis.language import detect
from ingest.analysis.subject import Subject
from ingest.optional_steps import improve
from ingest.postgres.database import Pool, transaction
from ingest.store.documents import chunk_terms
from ingest.store.documents.chunk_terms import UnindexedChunk, UnindexedDocument

log = structlog.get_logger()


async def index_terms(pool: Pool) -> int:
    """Index all documents whose terms are missing; returns how many."""
    total = 0
    while await _index_next(pool):
        total += 1
    if total:
        log.info("terms.indexed", documents=total)
    return total


async def _index_next(pool: Pool) -> bool:
    async with transaction(pool) as conn:
        document = await chunk_terms.lock_next(conn)
        if document is None:
            return False
        chunks = await chunk_terms.chunks(conn, document.id)
        # Long documents take seconds. One that cannot be indexed must not stop those behind it: it
        # keeps the terms that it has, and a warning says so.
        made = await asyncio.to_thread(
            improve, "keywords", lambda: _terms(document, chunks), otherwise=lambda: None
        )
        if made is None:
            await chunk_terms.give_up(conn, document.id)
            log.warning("terms.skipped", document_id=str(document.id))
            return True
        language, terms = made
        await chunk_terms.write(
            conn, document.id, language=language, ids=[chunk.id for chunk in chunks], terms=terms
        )
        return True


def _terms(
    document: UnindexedDocument, chunks: list[UnindexedChunk]
) -> tuple[str | None, list[IndexedTerms]]:
    language = detect(document.beginning)
    subject = Subject(
        title=document.title,
        uri=document.uri,
        name=document.source_name,
        author=document.author,
        language=language,
    )
    texts = [(chunk.content, tuple(chunk.headings)) for chunk in chunks]
    return language, list(terms_of_texts(subject, texts, application_id=document.application_id))
