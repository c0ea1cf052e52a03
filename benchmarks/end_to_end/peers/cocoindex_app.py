"""CocoIndex: an incremental app that mirrors a folder into a Postgres table.

It follows the project's examples: `walk_dir`, a memoised function per file, the recursive splitter
for Markdown, an embedder that gets batches of chunks, and a table target whose HNSW index exists
from the start. It has no readers of its own: PDFs are read by pypdfium2, HTML by trafilatura. The
first update, of an empty folder, creates the table and its index; a second update of unchanged
files is answered from its memo.
"""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import asyncpg
import cocoindex as coco
import numpy as np
import trafilatura
from cocoindex.connectors import localfs, postgres
from cocoindex.ops.text import RecursiveSplitter
from cocoindex.resources.chunk import Chunk
from cocoindex.resources.file import FileLike
from cocoindex.resources.id import IdGenerator
from cocoindex.resources.schema import VectorSchema
from numpy.typing import NDArray
from pypdfium2 import PdfDocument
from static_embedder import DIMENSION, StaticEmbedder
from task import Task, answer

DATABASE = coco.ContextKey[asyncpg.Pool]("database")
_splitter = RecursiveSplitter()


class Embedder:
    """Batches as its own embedders make them. It is memoised per file, not per chunk."""

    model: StaticEmbedder

    @coco.fn.as_async(batching=True, max_batch_size=1024)
    def embed(self, texts: list[str]) -> list[NDArray[np.float32]]:
        return list(self.model.embed(texts))


_embedder = Embedder()


@dataclass
class Row:
    id: int
    filename: str
    chunk_start: int
    chunk_end: int
    content: str
    embedding: Annotated[NDArray[np.float32], VectorSchema(np.dtype(np.float32), DIMENSION)]


@coco.fn
async def process_chunk(
    chunk: Chunk, filename: str, ids: IdGenerator, table: postgres.TableTarget[Row]
) -> None:
    table.declare_row(
        row=Row(
            id=await ids.next_id(chunk.text),
            filename=filename,
            chunk_start=chunk.start.char_offset,
            chunk_end=chunk.end.char_offset,
            content=chunk.text,
            embedding=await _embedder.embed(chunk.text),
        )
    )


@coco.fn(memo=True)
async def process_file(
    file: FileLike, kind: str, size: int, table: postgres.TableTarget[Row]
) -> None:
    text = await file.read_text() if kind != "pdf" else pdf_text(await file.read())
    if kind == "html":
        text = html_text(text)
    chunks = _splitter.split(text, chunk_size=size, chunk_overlap=size // 8, language="markdown")
    await coco.map(process_chunk, chunks, str(file.file_path.path), IdGenerator(), table)


def pdf_text(content: bytes) -> str:
    with PdfDocument(content) as document:
        return "\n\n".join(page.get_textpage().get_text_range() for page in document)


def html_text(page: str) -> str:
    return trafilatura.extract(page, output_format="markdown") or ""


@coco.fn
async def main(folder: Path, kind: str, size: int) -> None:
    table = await postgres.mount_table_target(
        DATABASE,
        table_name="chunks",
        table_schema=await postgres.TableSchema.from_class(Row, primary_key=["id"]),
    )
    table.declare_vector_index(column="embedding", method="hnsw", m=16, ef_construction=64)
    await coco.mount_each(process_file, localfs.walk_dir(folder).items(), kind, size, table)


def prepare(task: Task) -> Callable[[], object]:
    _embedder.model = task.embedder()
    _embedder.model.embed(["warm"])
    source = Path(task.scratch) / "source"
    source.mkdir()

    @coco.lifespan
    async def lifespan(builder: coco.EnvironmentBuilder) -> AsyncIterator[None]:
        builder.settings.db_path = Path(task.scratch) / "state"
        async with await asyncpg.create_pool(task.url) as pool:
            builder.provide(DATABASE, pool)
            yield

    app = coco.App(
        coco.AppConfig(name="benchmark"), main, folder=source, kind=task.kind, size=task.characters
    )
    app.update_blocking()
    # All files appear at the same moment.
    source.rmdir()
    source.symlink_to(task.folder)
    return app.update_blocking


answer(prepare, rows="select content, embedding from chunks")
