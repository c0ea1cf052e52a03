"""LlamaIndex: SimpleDirectoryReader, IngestionPipeline and PGVectorStore.

PDFs are read by the reader's default (pypdf), HTML by trafilatura, which its web readers use. A
docstore of ids and hashes, written to disk at the end of a run, lets it skip unchanged files. The
documents' texts are not stored twice, and the cache of transformations is off, because the docstore
makes it superfluous here. SentenceSplitter counts with the embedder's tokenizer. The HNSW index
exists from the start.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import trafilatura
from llama_index.core import Document, SimpleDirectoryReader
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.readers.base import BaseReader
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.vector_stores.postgres import PGVectorStore
from pydantic import PrivateAttr
from static_embedder import DIMENSION, StaticEmbedder
from task import Task, answer


class HtmlReader(BaseReader):
    def load_data(self, file: Path, extra_info: dict[str, Any] | None = None) -> list[Document]:
        text = trafilatura.extract(file.read_text(), output_format="markdown") or ""
        return [Document(text=text, metadata=extra_info or {})]


class Embedder(BaseEmbedding):
    _model: StaticEmbedder = PrivateAttr()

    def __init__(self, model: StaticEmbedder) -> None:
        super().__init__(embed_batch_size=1000)
        self._model = model

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._model.embed(texts).tolist()

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


def _without_metadata(documents: list[Document]) -> list[Document]:
    """Embed the text alone, as all others do."""
    for document in documents:
        document.excluded_embed_metadata_keys = list(document.metadata)
        document.excluded_llm_metadata_keys = list(document.metadata)
    return documents


def prepare(task: Task) -> Callable[[], object]:
    store = PGVectorStore.from_params(
        connection_string=task.url_for("psycopg2"),
        async_connection_string=task.url_for("asyncpg"),
        table_name="chunks",
        embed_dim=DIMENSION,
        use_jsonb=True,
        hnsw_kwargs={
            "hnsw_m": 16,
            "hnsw_ef_construction": 64,
            "hnsw_ef_search": 40,
            "hnsw_dist_method": "vector_cosine_ops",
        },
    )
    store.clear()  # creates the table and its index
    model = task.embedder()
    pipeline = IngestionPipeline(
        transformations=[
            SentenceSplitter(
                chunk_size=task.tokens,
                chunk_overlap=task.tokens // 8,
                tokenizer=model.tokens,
                include_metadata=False,
            ),
            Embedder(model),
        ],
        vector_store=store,
        docstore=SimpleDocumentStore(),
        disable_cache=True,
    )

    def read(**more: Any) -> list[Document]:
        reader = SimpleDirectoryReader(
            filename_as_id=True, file_extractor={".html": HtmlReader()}, **more
        )
        return _without_metadata(reader.load_data())

    def ingest() -> None:
        pipeline.run(documents=read(input_dir=task.folder), store_doc_text=False)
        pipeline.persist(task.scratch)

    read(input_files=task.files[:1])
    return ingest


answer(prepare, rows="select text, embedding from data_chunks")
