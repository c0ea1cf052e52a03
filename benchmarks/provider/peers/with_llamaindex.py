"""LlamaIndex: IngestionPipeline (asynchronous) into PGVectorStore.

- `embed_batch_size`: as many texts as certainly fit a request; `num_workers` concurrent requests.
- SentenceSplitter, its default splitter, in tokens.
- The HNSW index is created with the table, before the rows; uvloop.
"""

import uvloop
from llama_index.core import Document
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.embeddings.openai import OpenAIEmbedding
from llama_index.vector_stores.postgres import PGVectorStore
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine
from task import Stopwatch, arguments, files

TASK = arguments()
_AT_ONCE = 4


def _url(driver: str) -> str:
    url: str = TASK["url"]
    return url.replace("postgresql://", f"postgresql+{driver}://")


async def _stored() -> int:
    async with create_async_engine(_url("asyncpg")).connect() as connection:
        return int(
            (await connection.execute(text("select count(*) from data_chunks"))).scalar_one()
        )


async def main() -> None:
    store = PGVectorStore.from_params(
        connection_string=_url("psycopg2"),
        async_connection_string=_url("asyncpg"),
        table_name="chunks",
        embed_dim=TASK["dimension"],
        hnsw_kwargs={
            "hnsw_m": 16,
            "hnsw_ef_construction": 64,
            "hnsw_dist_method": "vector_cosine_ops",
        },
    )
    embedder = OpenAIEmbedding(
        model=TASK["model"],
        dimensions=TASK["dimension"],
        api_base=TASK["base_url"],
        api_key="sk-bench",
        embed_batch_size=TASK["texts_per_request"],
        num_workers=_AT_ONCE,
    )
    splitter = SentenceSplitter(chunk_size=TASK["tokens"], chunk_overlap=TASK["overlap"])
    pipeline = IngestionPipeline(
        transformations=[splitter, embedder], vector_store=store, disable_cache=True
    )
    watch = Stopwatch()
    documents = [Document(text=file.read_text(), id_=file.name) for file in files(TASK)]
    await pipeline.arun(documents=documents)
    watch.stop()
    watch.answer(chunks=await _stored())


if __name__ == "__main__":
    uvloop.run(main())
