"""LangChain: loaders, the recursive splitter, and the indexing API over langchain-postgres.

TextLoader, PyPDFium2Loader and BSHTMLLoader read the files. `index` with a SQLRecordManager in the
same Postgres skips unchanged chunks and removes outdated ones (cleanup "incremental"), in batches
of 1,000 chunks instead of 100. PGVectorStore has an HNSW index from the start; it inserts and
commits row by row.
"""

import os
from collections.abc import Callable, Iterator

from langchain_classic.indexes import SQLRecordManager
from langchain_community.document_loaders import BSHTMLLoader, PyPDFium2Loader, TextLoader
from langchain_community.document_loaders.base import BaseLoader
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.indexing import index
from langchain_postgres import PGEngine, PGVectorStore
from langchain_postgres.v2.indexes import HNSWIndex
from langchain_text_splitters import RecursiveCharacterTextSplitter
from static_embedder import DIMENSION, StaticEmbedder
from task import Task, answer

LOADERS: dict[str, Callable[[str], BaseLoader]] = {
    "text": lambda path: TextLoader(path, encoding="utf-8"),
    "pdf": lambda path: PyPDFium2Loader(path, mode="single"),
    "html": lambda path: BSHTMLLoader(path, open_encoding="utf-8"),
}


class Embedder(Embeddings):
    def __init__(self, model: StaticEmbedder) -> None:
        self._model = model

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self._model.embed(texts).tolist()

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


def prepare(task: Task) -> Callable[[], object]:
    engine = PGEngine.from_connection_string(task.url_for("asyncpg"))
    engine.init_vectorstore_table("chunks", DIMENSION)
    store = PGVectorStore.create_sync(engine, Embedder(task.embedder()), "chunks")
    store.apply_vector_index(HNSWIndex(m=16, ef_construction=64))
    records = SQLRecordManager("benchmark", db_url=task.url_for("psycopg"))
    records.create_schema()
    splitter = RecursiveCharacterTextSplitter(
        chunk_size=task.characters, chunk_overlap=task.characters // 8
    )
    load = LOADERS[task.kind]
    load(str(task.files[0])).load()

    def pieces() -> Iterator[Document]:
        for path in task.files:
            yield from splitter.split_documents(load(str(path)).load())

    return lambda: index(
        pieces(),
        records,
        store,
        cleanup="incremental",
        source_id_key="source",
        batch_size=1000,
    )


os.environ["LANGSMITH_TRACING"] = "false"
answer(prepare, rows="select content, embedding from chunks")
