"""Haystack: DocumentSplitter, OpenAIDocumentEmbedder and PgvectorDocumentStore.

- `batch_size`: texts per request, as many as certainly fit. The embedder sends its batches one
  after the other, so several parts are embedded concurrently, by its `run_async`.
- Embedded documents are written meanwhile; the store has one connection.
- Words, its default unit: a size in words that gives about as many tokens as the others have.
- `search_strategy="hnsw"`: the index is created with the table, before the rows.
"""

import asyncio
from collections.abc import Sequence

from haystack import Document
from haystack.components.embedders import OpenAIDocumentEmbedder
from haystack.components.preprocessors import DocumentSplitter
from haystack.utils import Secret
from haystack_integrations.document_stores.pgvector import PgvectorDocumentStore
from task import Stopwatch, arguments, characters, files, slices

TASK = arguments()
_AT_ONCE = 4


def _words(content: str, tokens: int) -> int:
    return int(characters(TASK, tokens) * len(content.split()) / len(content))


async def main() -> None:
    store = PgvectorDocumentStore(
        connection_string=Secret.from_token(TASK["url"]),
        table_name="chunks",
        embedding_dimension=TASK["dimension"],
        vector_function="cosine_similarity",
        search_strategy="hnsw",
    )
    await store.count_documents_async()  # creates the table
    embedder = OpenAIDocumentEmbedder(
        api_key=Secret.from_token("sk-bench"),
        model=TASK["model"],
        dimensions=TASK["dimension"],
        api_base_url=TASK["base_url"],
        batch_size=TASK["texts_per_request"],
        progress_bar=False,
    )
    sample = files(TASK)[0].read_text()
    splitter = DocumentSplitter(
        split_by="word",
        split_length=_words(sample, TASK["tokens"]),
        split_overlap=_words(sample, TASK["overlap"]),
    )
    slots, turn = asyncio.Semaphore(_AT_ONCE), asyncio.Lock()

    async def add(part: Sequence[Document]) -> None:
        async with slots:
            embedded = (await embedder.run_async(list(part)))["documents"]
        async with turn:
            await store.write_documents_async(embedded)

    watch = Stopwatch()
    documents = [
        Document(content=file.read_text(), meta={"name": file.name}) for file in files(TASK)
    ]
    chunks = splitter.run(documents)["documents"]
    await asyncio.gather(*map(add, slices(chunks, TASK["texts_per_request"])))
    watch.stop()
    watch.answer(chunks=await store.count_documents_async())


if __name__ == "__main__":
    asyncio.run(main())
