"""From extracted text to chunks, in the parser process."""

from ingest.model import Chunk, ChunkSettings, Document
from ingest.optional_steps import improve
from ingest.sandbox.messages import ParseRequest

_LONGEST_WITH_TERMS = 16 * 1024 * 1024
"""Characters; the terms of a longer text would not fit into a frame, and are made later."""

# Imports are in the functions because the parent imports other modules of this package without
# tokenizers and analysers.


def without_furniture(document: Document, request: ParseRequest) -> Document:
    """The document without what repeats on the pages of its site."""
    if not request.chunk.furniture:
        return document
    from ingest.web.furniture import without_furniture

    furniture = dict(request.chunk.furniture)
    return improve(
        "furniture",
        lambda: without_furniture(document, furniture, request.uri),
        otherwise=lambda: document,
    )


def chunked(document: Document, settings: ChunkSettings) -> tuple[Document, list[Chunk]]:
    """The document with its language, and its chunks with their terms."""
    from ingest.analysis.chunk_terms import with_terms
    from ingest.chunking.chunk import chunk
    from ingest.tokens.tokenizers import load_tokenizer

    chunks = chunk(
        document,
        tokenizer=load_tokenizer(settings.tokenizer),
        size=settings.size,
        overlap=settings.overlap,
        by=settings.by,
    )
    if len(document.text) > _LONGEST_WITH_TERMS:
        return document, chunks
    return improve(
        "keywords", lambda: with_terms(document, chunks), otherwise=lambda: (document, chunks)
    )
