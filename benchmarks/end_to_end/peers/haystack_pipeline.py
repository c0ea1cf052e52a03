"""Haystack: a pipeline of converter, splitter, embedder and writer, with PgvectorDocumentStore.

Its converters: TextFileToDocument, PyPDFToDocument, HTMLToDocument (trafilatura). Its HNSW index
exists from the start. All files are one run, so that the store writes all documents with one
`executemany`, which psycopg pipelines. Stored documents are skipped by their id (a hash of the
content), but only by the writer: everything is read, split and embedded again.
"""

import os
from collections.abc import Callable
from typing import Any

from haystack import Document, Pipeline, component
from haystack.components.converters import HTMLToDocument, PyPDFToDocument, TextFileToDocument
from haystack.components.preprocessors import DocumentSplitter
from haystack.components.writers import DocumentWriter
from haystack.document_stores.types import DuplicatePolicy
from haystack.utils import Secret
from haystack_integrations.document_stores.pgvector import PgvectorDocumentStore
from static_embedder import DIMENSION, StaticEmbedder
from task import Task, answer

CONVERTERS: dict[str, Callable[[], Any]] = {
    "text": TextFileToDocument,
    "pdf": PyPDFToDocument,
    "html": HTMLToDocument,
}


@component
class Embedder:
    def __init__(self, model: StaticEmbedder) -> None:
        self._model = model

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, list[Document]]:
        vectors = self._model.embed([document.content or "" for document in documents])
        for document, vector in zip(documents, vectors, strict=True):
            document.embedding = vector.tolist()
        return {"documents": documents}


def prepare(task: Task) -> Callable[[], object]:
    store = PgvectorDocumentStore(
        connection_string=Secret.from_token(task.url),
        table_name="chunks",
        embedding_dimension=DIMENSION,
        search_strategy="hnsw",
        hnsw_index_creation_kwargs={"m": 16, "ef_construction": 64},
    )
    store.count_documents()  # creates the table and its index
    pipeline = Pipeline()
    converter = CONVERTERS[task.kind]()
    pipeline.add_component("converter", converter)
    pipeline.add_component(
        "splitter",
        DocumentSplitter(split_by="word", split_length=task.words, split_overlap=task.words // 8),
    )
    pipeline.add_component("embedder", Embedder(task.embedder()))
    pipeline.add_component("writer", DocumentWriter(store, policy=DuplicatePolicy.SKIP))
    pipeline.connect("converter", "splitter")
    pipeline.connect("splitter", "embedder")
    pipeline.connect("embedder", "writer")
    pipeline.warm_up()
    converter.run(sources=task.files[:1])
    return lambda: pipeline.run({"converter": {"sources": task.files}})


os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
answer(prepare, rows="select content, embedding from chunks")
