"""The limit: the queries from the manuals of pgvector and Postgres, on a plain table.

One table without owners, sources or filters, with the same texts and vectors, and HNSW and GIN
indexes with the project's settings (below; a test compares them). One connection stays open, the
driver prepares the statements, and questions are embedded beforehand.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import psycopg
from pgvector.psycopg import register_vector

from benchmarks.core.postgres import Server
from benchmarks.search.texts import Chunks
from benchmarks.search.timing import LIMIT, Ask, Mode, Question

EF_SEARCH: Final = 250
INDEX_OPTIONS: Final = "m = 16, ef_construction = 256"
_FUSED: Final = 50
_FUSION_K: Final = 60

_TABLE: Final = """
create table chunks (
    id integer primary key, content text not null, embedding vector({dimension}) not null,
    tsv tsvector generated always as (to_tsvector('english', content)) stored)
"""
_INDEX: Final = (
    "create index on chunks using hnsw ((embedding::halfvec({dimension})) halfvec_cosine_ops) "
    f"with ({INDEX_OPTIONS})"
)
_NEAREST: Final = (
    "select id, content from chunks "
    "order by embedding::halfvec({dimension}) <=> %s::halfvec({dimension}) limit %s"
)
_WORDS: Final = (
    "select chunk.id, chunk.content from chunks as chunk cross join "
    "(select websearch_to_tsquery('english', %s) as query) as wanted "
    "where chunk.tsv @@ wanted.query order by ts_rank(chunk.tsv, wanted.query) desc limit %s"
)


@contextmanager
def installation(server: Server, chunks: Chunks) -> Iterator[str]:
    """The DSN of a filled database."""
    with server.database("search_bare") as dsn:
        _fill(dsn, chunks)
        server.settle()
        yield dsn


def _fill(dsn: str, chunks: Chunks) -> None:
    """Copy the rows, then build the indexes."""
    dimension = chunks.vectors.shape[1]
    with psycopg.connect(dsn, autocommit=True) as conn:
        register_vector(conn)
        conn.execute(_TABLE.format(dimension=dimension).encode())
        copied = "copy chunks (id, content, embedding) from stdin (format binary)"
        with conn.cursor().copy(copied) as copy:
            copy.set_types(["int4", "text", "vector"])
            for id, (text, vector) in enumerate(zip(chunks.texts, chunks.vectors, strict=True)):
                copy.write_row((id, text, vector))
        conn.execute(_INDEX.format(dimension=dimension).encode())
        conn.execute("create index on chunks using gin (tsv)")
        conn.execute("vacuum analyze chunks")


@contextmanager
def bare_client(dsn: str, mode: Mode) -> Iterator[Ask]:
    """Searches in mode `mode`, whatever the question's own mode is."""
    with psycopg.connect(dsn, autocommit=True, prepare_threshold=1) as conn:
        register_vector(conn)
        conn.execute(f"set hnsw.ef_search = {EF_SEARCH:d}".encode())

        def nearest(question: Question, limit: int) -> list[Any]:
            statement = _NEAREST.format(dimension=len(question.vector))
            return conn.execute(statement.encode(), (question.vector, limit)).fetchall()

        def by_words(question: Question, limit: int) -> list[Any]:
            return conn.execute(_WORDS, (question.text, limit)).fetchall()

        asks: dict[Mode, Ask] = {
            "vector": lambda question: nearest(question, LIMIT),
            "keyword": lambda question: by_words(question, LIMIT),
            "hybrid": lambda question: _fused(
                nearest(question, _FUSED), by_words(question, _FUSED)
            ),
        }
        yield asks[mode]


def _fused(*rankings: list[Any]) -> list[Any]:
    scores: dict[Any, float] = {}
    for ranking in rankings:
        for rank, row in enumerate(ranking, start=1):
            scores[row] = scores.get(row, 0) + 1 / (_FUSION_K + rank)
    return sorted(scores, key=lambda row: -scores[row])[:LIMIT]
