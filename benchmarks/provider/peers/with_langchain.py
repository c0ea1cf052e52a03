"""LangChain: RecursiveCharacterTextSplitter, OpenAIEmbeddings, and the current PGVectorStore.

- `chunk_size` of the embeddings: texts per request, as many as certainly fit. Without
  `check_embedding_ctx_length`, as its guide says for endpoints other than OpenAI's.
- Its store inserts row by row. So the chunks go to `aadd_documents` in parts of one request each,
  several at a time, on the engine's pool.
- Sizes in characters, its default and its fastest.
- The HNSW index is created before the rows; asyncpg, which its engine recommends, and uvloop.
"""

import asyncio
from collections.abc import Sequence

import uvloop
from langchain_core.documents import Document
from langchain_openai import OpenAIEmbeddings
from langchain_postgres import PGEngine, PGVectorStore
from langchain_postgres.v2.indexes import HNSWIndex
from langchain_text_splitters import RecursiveCharacterTextSplitter
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine
from task import Stopwatch, arguments, characters, files, slices

TASK = arguments()
_AT_ONCE = 4


async def main() -> None:
    url = TASK["url"].replace("postgresql://", "postgresql+asyncpg://")
    database = create_async_engine(url, pool_size=_AT_ONCE)
    engine = PGEngine.from_engine(database)
    await engine.ainit_vectorstore_table("chunks", TASK["dimension"])
    embeddings = OpenAIEmbeddings(
        model=TASK["model"],
        dimensions=TASK["dimension"],
        base_url=TASK["base_url"],
        api_key="sk-bench",
        chunk_size=TASK["texts_per_request"],
        check_embedding_ctx_length=False,
    )
    store = await PGVectorStore.create(engine, embeddings, "chunks")
    await store.aapply_vector_index(HNSWIndex())
    splitter = RecursiveCharacterTextSplitter(
        chunk_size=characters(TASK, TASK["tokens"]),
        chunk_overlap=characters(TASK, TASK["overlap"]),
    )
    slots = asyncio.Semaphore(_AT_ONCE)

    async def add(part: Sequence[Document]) -> None:
        async with slots:
            await store.aadd_documents(list(part))

    watch = Stopwatch()
    documents = [Document(file.read_text(), metadata={"source": file.name}) for file in files(TASK)]
    chunks = splitter.split_documents(documents)
    await asyncio.gather(*map(add, slices(chunks, TASK["texts_per_request"])))
    watch.stop()
    async with database.connect() as connection:
        found = await connection.execute(text("select count(*) from chunks"))
        watch.answer(chunks=found.scalar_one())


if __name__ == "__main__":
    uvloop.run(main())
