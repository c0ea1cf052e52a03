"""CPU time for one HNSW insert, which grows with the logarithm of the number of vectors."""

from typing import Any

import psycopg
from pgvector.psycopg import register_vector

from benchmarks.core.processes import family_cpu_seconds
from benchmarks.growth.texts import Texts

_SEED = 1_000_000
_CHUNKS = """
insert into rag.chunks (id, application_id, source_id, document_id, ordinal, content, embedded_hash,
                        token_count, char_start, char_end, section_start, section_end)
select gen_random_uuid(), one.application_id, one.source_id, one.document_id, 1000000 + n, '', '',
       0, 0, 0, 0, 0
  from (select * from rag.chunks limit 1) as one, generate_series(1, %s) as n
returning id, application_id
"""
_INSERT = (
    "insert into rag.embeddings (chunk_id, model_id, application_id, embedding) "
    "values (%s, %s, %s, %s)"
)
_OTHER_MODEL = (
    "insert into rag.embedding_models (provider, name, dimension) "
    "select provider, 'not indexed', dimension from rag.embedding_models limit 1 returning id"
)


def insert_cpu(dsn: str, texts: Texts, *, count: int) -> float:
    """CPU seconds to insert a vector into the index, beyond those without an index.

    The insert is rolled back. Its entries stay in the index as dead ones, so call this last.
    """
    with psycopg.connect(dsn) as conn:
        register_vector(conn)
        [(model,)] = conn.execute("select id from rag.embedding_models limit 1").fetchall()
        [(other,)] = conn.execute(_OTHER_MODEL).fetchall()
        chunks = conn.execute(_CHUNKS, [count]).fetchall()
        vectors = [text.vector for text in texts.make(count, seed=_SEED)]
        spent = []
        for id in (other, model):
            rows = [(c, id, owner, v) for (c, owner), v in zip(chunks, vectors, strict=True)]
            before = family_cpu_seconds(conn.info.backend_pid)
            _insert(conn, rows)
            spent.append(family_cpu_seconds(conn.info.backend_pid) - before)
        conn.rollback()
    without, under = spent
    return (under - without) / count


def _insert(conn: psycopg.Connection[Any], rows: list[tuple[Any, ...]]) -> None:
    with conn.cursor() as cur:
        cur.executemany(_INSERT, rows)
