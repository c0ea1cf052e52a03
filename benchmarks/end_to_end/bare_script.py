"""The limit: extract, chunk, embed and COPY in a loop, and nothing else.

A script that someone would write for a single load, with this project's own stages: 40 files per
commit, no upload, no queue, no events, no fence. It is started like a peer: JSON on standard input,
JSON output. With `index` "before", its HNSW index exists from the start; with "after", it is built
at the end, and the time counts. With `processes` 2, the two processes take turns commit by commit.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, ClassVar
from uuid import UUID

import numpy as np
import psycopg
from pgvector.psycopg import register_vector

from benchmarks.core.processes import family_cpu_seconds
from ingest.chunking.chunk import chunk
from ingest.formats.registry import extract
from ingest.model import Chunk, Document
from ingest.postgres.database import new_id
from ingest.providers.embedders.factory import build_embedder, chunk_settings
from ingest.settings.settings import Settings
from ingest.tokens.tokenizers import load_tokenizer

_TABLES = """
create table documents (id uuid primary key, path text, content text);
create table chunks (
    id uuid primary key, document_id uuid, content text, embedding vector({dimension}),
    tsv tsvector generated always as (to_tsvector('english', content)) stored);
create index on chunks using gin (tsv);
"""
_INDEX = "create index on chunks using hnsw (embedding vector_cosine_ops)"
_PER_COMMIT = 40


class Script:
    """The state of one process: the model and its connection."""

    of_this_process: ClassVar["Script"]

    def __init__(self, dsn: str) -> None:
        settings = Settings(embedder="static")
        self._embedder = asyncio.run(build_embedder(settings))
        self._chunking = chunk_settings(settings, self._embedder.model)
        self._tokenizer = load_tokenizer(self._chunking.tokenizer)
        self._conn: psycopg.Connection[Any] = psycopg.connect(dsn)
        register_vector(self._conn)

    def store(self, files: Sequence[Path]) -> None:
        """Ingest some files and commit."""
        documents: list[tuple[UUID, str, str]] = []
        chunks: list[tuple[UUID, UUID, str]] = []
        for path in files:
            document = self.read(path)
            document_id = new_id()
            documents.append((document_id, path.name, document.text))
            chunks += [(new_id(), document_id, piece.text) for piece in self._cut(document)]
        vectors = asyncio.run(self._embed([text for _, _, text in chunks]))
        with self._conn.cursor() as cur:
            with cur.copy("copy documents from stdin (format binary)") as copy:
                copy.set_types(["uuid", "text", "text"])
                for document_row in documents:
                    copy.write_row(document_row)
            with cur.copy(
                "copy chunks (id, document_id, content, embedding) from stdin (format binary)"
            ) as copy:
                copy.set_types(["uuid", "uuid", "text", "vector"])
                for row, vector in zip(chunks, vectors, strict=True):
                    copy.write_row((*row, vector))
        self._conn.commit()

    def read(self, path: Path) -> Document:
        with path.open("rb") as file:
            return extract(file, name=path.name)

    def _cut(self, document: Document) -> list[Chunk]:
        return chunk(
            document,
            tokenizer=self._tokenizer,
            size=self._chunking.size,
            overlap=self._chunking.overlap,
        )

    async def _embed(self, texts: list[str]) -> Any:
        step = self._embedder.max_items
        return np.concatenate(
            [await self._embedder.embed(texts[at : at + step]) for at in range(0, len(texts), step)]
        )


def _begin(dsn: str, example: Path) -> None:
    """Initialise each process before the clock starts."""
    Script.of_this_process = Script(dsn)
    Script.of_this_process.read(example)


def _store(files: Sequence[Path]) -> None:
    Script.of_this_process.store(files)


def _be_ready(seconds: float) -> None:
    time.sleep(seconds)  # so that no process takes two of these


def run(dsn: str, folder: Path, *, index: str, processes: int) -> tuple[float, float]:
    """Ingest all files of the folder; returns elapsed and processor seconds."""
    files = sorted(folder.iterdir())
    commits = [files[at : at + _PER_COMMIT] for at in range(0, len(files), _PER_COMMIT)]
    with psycopg.connect(dsn, autocommit=True) as conn:
        dimension = asyncio.run(build_embedder(Settings(embedder="static"))).model.dimension
        conn.execute(_TABLES.format(dimension=dimension).encode())
        if index == "before":
            conn.execute(_INDEX)
        if processes == 1:
            _begin(dsn, files[0])
            started, before = time.perf_counter(), family_cpu_seconds(os.getpid())
            for commit in commits:
                _store(commit)
        else:
            with ProcessPoolExecutor(
                processes, initializer=_begin, initargs=(dsn, files[0])
            ) as pool:
                list(pool.map(_be_ready, [0.2] * processes))
                started, before = time.perf_counter(), family_cpu_seconds(os.getpid())
                list(pool.map(_store, commits))
        if index == "after":
            conn.execute(_INDEX)
        return time.perf_counter() - started, family_cpu_seconds(os.getpid()) - before


def main() -> None:
    task = json.load(sys.stdin)
    seconds, cpu = run(
        task["dsn"], Path(task["folder"]), index=task["index"], processes=task["processes"]
    )
    answer = {
        "seconds": [seconds],
        "cpu": cpu,
        "rows": "select content, embedding from chunks",
        "index": {"before": "in place", "after": "built at the end"}[task["index"]],
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
