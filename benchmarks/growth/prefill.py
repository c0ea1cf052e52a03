"""Fill an installation with thousands of documents in seconds, without uploading them.

One file is uploaded to a real service. Then every row that this wrote, in all tables that grow with
uploads, is copied many times with different ids, paths, texts and vectors. So columns and rows are
always those that the service writes. Files in the blob store are not made: no figure here reads
them.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, LiteralString
from uuid import UUID

import psycopg
from pgvector.psycopg import register_vector
from psycopg import sql

from benchmarks.core.postgres import drop_slow_indexes
from benchmarks.growth.texts import Text, Texts
from benchmarks.growth.uploads import service_on
from ingest.analysis.chunk_terms import terms_of_texts
from ingest.analysis.subject import Subject
from ingest.postgres.database import new_id

PER_BATCH: Final = 1000
"""Files of one upload."""
_PATH: Final = "stored/0.md"
_SPREAD: Final = "20 days"
"""The uploads are spread over this time: all jobs are kept; of old events, only the last ones."""
_SEED: Final = 0

_NEW: Final = """
create unlogged table growth_new (
    number integer, at timestamptz, application_id uuid, batch_id uuid, source_id uuid,
    document_id uuid, chunk_id uuid, job_id uuid, uri text, content text, content_hash bytea,
    embedding vector, words integer[], grams integer[])
"""
_COPY: Final = "copy growth_new from stdin (format binary)"
_TYPES: Final = (
    "int4",
    "timestamptz",
    *["uuid"] * 6,
    "text",
    "text",
    "bytea",
    "vector",
    "int4[]",
    "int4[]",
)


@dataclass(frozen=True, slots=True)
class _Clone:
    """A table, and the columns that differ in copied rows; times are those of the new file."""

    table: str
    own: Mapping[str, LiteralString]
    rows: LiteralString = "true"
    """Which of the new files get a row."""


_BLOB: Final = "new.application_id || '/' || new.source_id"
_SOURCE: Final = {"id": "new.source_id", "application_id": "new.application_id"}
_CLONES: Final[Sequence[_Clone]] = (
    _Clone(
        "upload_batches",
        {
            "id": "new.batch_id",
            "application_id": "new.application_id",
            "accepted": "(select count(*) from growth_new as file "
            "where file.batch_id = new.batch_id)",
        },
        rows="new.number in (select min(number) from growth_new group by batch_id)",
    ),
    _Clone(
        "knowledge_sources",
        {
            **_SOURCE,
            "batch_id": "new.batch_id",
            "uri": "new.uri",
            "name": "new.uri",
            "current_job_id": "new.job_id",
            "content_hash": "new.content_hash",
            "blob_key": _BLOB,
            "size_bytes": "octet_length(new.content)",
        },
    ),
    _Clone(
        "upload_files",
        {
            "batch_id": "new.batch_id",
            "path": "new.uri",
            "knowledge_source_id": "new.source_id",
            "job_id": "new.job_id",
        },
    ),
    _Clone(
        "documents",
        {
            "id": "new.document_id",
            "application_id": "new.application_id",
            "source_id": "new.source_id",
            "uri": "new.uri",
            "title": "new.uri",
            "content_hash": "new.content_hash",
            "text": "new.content",
            "last_seen_job_id": "new.job_id",
        },
    ),
    _Clone(
        "chunks",
        {
            "id": "new.chunk_id",
            "application_id": "new.application_id",
            "source_id": "new.source_id",
            "document_id": "new.document_id",
            "content": "new.content",
            "embedded_hash": "sha256(new.content_hash)",
            "words": "new.words",
            "grams": "new.grams",
            "sample": "(random() * 2147483647)::integer",
        },
    ),
    _Clone(
        "processing_jobs",
        {
            "id": "new.job_id",
            "application_id": "new.application_id",
            "knowledge_source_id": "new.source_id",
            "batch_id": "new.batch_id",
            "payload": "old.payload || jsonb_build_object("
            f"'blobKey', {_BLOB}, 'contentHash', encode(new.content_hash, 'hex'))",
        },
    ),
    _Clone("job_logs", {"job_id": "new.job_id"}),
    _Clone(
        "progress_events",
        {
            "source_id": "new.source_id",
            "data": "case when old.data ? 'jobId' "
            "then old.data || jsonb_build_object('jobId', new.job_id) else old.data end",
        },
        rows="new.at > now() - interval '7 days' "
        "or old.seq = (select max(seq) from rag.progress_events)",
    ),
)


def upload_one(dsn: str, texts: Texts) -> None:
    """Upload the file that `fill` copies."""
    [text] = texts.make(1, seed=_SEED)
    with service_on(dsn) as service:
        [source] = service.upload([(_PATH, text.content.encode())])["knowledgeSourceIds"]
        done = service.wait_until_terminal(source)
        assert done["completed"] == 1, done


def fill(dsn: str, *, documents: int, applications: int, texts: Texts) -> list[UUID]:
    """Store the documents, divided equally among the applications; returns the applications' ids.

    The first application is the default one. Call `upload_one` first.
    """
    with psycopg.connect(dsn) as conn:
        register_vector(conn)
        owners = _applications(conn, applications)
        conn.execute(_NEW)
        _copy_new(conn, owners, texts.make(documents, seed=_SEED + 1), documents)
        conn.execute("analyze growth_new")
        # The references are correct by construction; checking them all would double the time.
        conn.execute("set local session_replication_role = replica")
        built = drop_slow_indexes(conn)
        for clone in _CLONES:
            conn.execute(_statement(conn, clone))
        conn.execute(
            "insert into rag.embeddings (chunk_id, model_id, application_id, embedding) "
            "select new.chunk_id, model.id, new.application_id, new.embedding "
            "from growth_new as new cross join rag.embedding_models as model"
        )
        conn.execute("drop table growth_new")
        for definition in built:
            conn.execute(definition)
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("vacuum analyze")
        _check(conn, documents)
    return owners


def _applications(conn: psycopg.Connection[Any], count: int) -> list[UUID]:
    conn.execute(
        "insert into app.applications (name) select 'growth ' || n from generate_series(2, %s) n",
        [count],
    )
    rows = conn.execute("select id from app.applications order by not is_default, id").fetchall()
    return [id for (id,) in rows]


def _copy_new(
    conn: psycopg.Connection[Any], owners: Sequence[UUID], texts: Iterable[Text], count: int
) -> None:
    [(now,)] = conn.execute("select now()").fetchall()
    [(span,)] = conn.execute("select %s::interval", [_SPREAD]).fetchall()
    batches: dict[tuple[UUID, int], UUID] = {}
    with conn.cursor().copy(_COPY) as copy:
        copy.set_types(_TYPES)
        for number, text in enumerate(texts):
            owner = owners[number % len(owners)]
            turn = number // len(owners) // PER_BATCH
            content = text.content.encode()
            uri = f"stored/{turn}/{number}.md"
            subject = Subject(title=None, uri=uri, language="en")
            [terms] = terms_of_texts(subject, [(text.content, ())], application_id=owner)
            copy.write_row(
                (
                    number,
                    now - span * (1 - number / count),
                    owner,
                    batches.setdefault((owner, turn), new_id()),
                    *(new_id() for _ in range(4)),
                    uri,
                    text.content,
                    hashlib.sha256(content).digest(),
                    text.vector,
                    terms.words.tolist(),
                    terms.grams.tolist(),
                )
            )


def _statement(conn: psycopg.Connection[Any], clone: _Clone) -> sql.Composed:
    columns = conn.execute(
        "select column_name, data_type like 'timestamp%%' from information_schema.columns "
        "where table_schema = 'rag' and table_name = %s and is_generated = 'NEVER' "
        "and is_identity = 'NO' order by ordinal_position",
        [clone.table],
    ).fetchall()
    values = [_value(name, clone, is_time=is_time) for name, is_time in columns]
    return sql.SQL(
        "insert into rag.{table} ({columns}) select {values} from growth_new as new "
        "cross join (select * from rag.{table}) as old where {rows} order by new.number"
    ).format(
        table=sql.Identifier(clone.table),
        columns=sql.SQL(", ").join(sql.Identifier(name) for name, _ in columns),
        values=sql.SQL(", ").join(values),
        rows=sql.SQL(clone.rows),
    )


def _value(column: str, clone: _Clone, *, is_time: bool) -> sql.Composable:
    if column in clone.own:
        return sql.SQL(clone.own[column])
    if is_time:
        return sql.SQL("case when old.{} is not null then new.at end").format(
            sql.Identifier(column)
        )
    return sql.SQL("old.{}").format(sql.Identifier(column))


def _check(conn: psycopg.Connection[Any], documents: int) -> None:
    """Check that each table has one row per document, plus the uploaded one."""
    for table in ("knowledge_sources", "documents", "chunks", "embeddings", "processing_jobs"):
        query = sql.SQL("select count(*) from rag.{}").format(sql.Identifier(table))
        [(count,)] = conn.execute(query).fetchall()
        assert count == documents + 1, (table, count)
