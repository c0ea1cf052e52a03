"""CocoIndex: a flow from a folder to Postgres, as in its guide.

- Its own LiteLLM embedder groups at most 64 texts and requests plain numbers. So the embedder is a
  batched function, as the guide shows for other providers, with the largest batch, and base64 (the
  default of OpenAI's client).
- RecursiveSplitter in Rust; sizes in bytes.
- The vector index is declared with the table, so it exists before the rows.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import asyncpg
import cocoindex as coco
import numpy as np
from cocoindex.connectors import localfs, postgres
from cocoindex.ops.text import RecursiveSplitter
from cocoindex.resources.chunk import Chunk
from cocoindex.resources.file import FileLike
from cocoindex.resources.id import IdGenerator
from cocoindex.resources.schema import VectorSchema
from numpy.typing import NDArray
from openai import AsyncOpenAI
from task import Stopwatch, arguments, characters

TASK = arguments()
POOL = coco.ContextKey[asyncpg.Pool]("pool")
_client = AsyncOpenAI(api_key="sk-bench", base_url=TASK["base_url"])
_splitter = RecursiveSplitter()
_schema = VectorSchema(dtype=np.dtype(np.float32), size=TASK["dimension"])


@coco.fn.as_async(batching=True, max_batch_size=TASK["texts_per_request"])
async def embed(texts: list[str]) -> list[NDArray[np.float32]]:
    answer = await _client.embeddings.create(
        model=TASK["model"], input=texts, dimensions=TASK["dimension"]
    )
    return [np.array(item.embedding, np.float32) for item in answer.data]


@coco.lifespan
async def lifespan(builder: coco.EnvironmentBuilder) -> AsyncIterator[None]:
    builder.settings.db_path = Path(tempfile.mkdtemp()) / "cocoindex.db"
    async with asyncpg.create_pool(TASK["url"]) as pool:
        builder.provide(POOL, pool)
        yield


@dataclass
class Row:
    id: int
    filename: str
    text: str
    embedding: Annotated[NDArray[np.float32], _schema]


@coco.fn
async def store_chunk(
    chunk: Chunk, filename: str, ids: IdGenerator, table: postgres.TableTarget[Row]
) -> None:
    vector = await embed(chunk.text)
    table.declare_row(row=Row(await ids.next_id(chunk.text), filename, chunk.text, vector))


@coco.fn(memo=True)
async def store_file(file: FileLike[Any], table: postgres.TableTarget[Row]) -> None:
    chunks = _splitter.split(
        await file.read_text(),
        chunk_size=characters(TASK, TASK["tokens"]),
        chunk_overlap=characters(TASK, TASK["overlap"]),
        language="markdown",
    )
    await coco.map(store_chunk, chunks, str(file.file_path.path), IdGenerator(), table)


@coco.fn
async def main_flow(folder: Path) -> None:
    table = await postgres.mount_table_target(
        POOL,
        table_name="chunks",
        table_schema=await postgres.TableSchema.from_class(Row, primary_key=["id"]),
    )
    table.declare_vector_index(column="embedding", metric="cosine", method="hnsw")
    await coco.mount_each(store_file, localfs.walk_dir(folder).items(), table)


async def count() -> int:
    connection = await asyncpg.connect(TASK["url"])
    found: int = await connection.fetchval("select count(*) from chunks")
    return found


async def main() -> None:
    app = coco.App(coco.AppConfig(name="Provider"), main_flow, folder=Path(TASK["folder"]))
    watch = Stopwatch()
    await app.update()
    watch.stop()
    watch.answer(chunks=await count())


if __name__ == "__main__":
    asyncio.run(main())
