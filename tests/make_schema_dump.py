"""Writes VERSION.sql in db/postgres/fixtures: a database of this version, with rows everywhere.

    python -m tests.make_schema_dump

Run it once per release; test_upgrade.py then upgrades the dump with all later migrations.
The dump is plain SQL that every supported Postgres executes.
"""

import asyncio
import os
import subprocess
import tempfile
from importlib.metadata import version
from pathlib import Path

import psycopg
from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection, sql

from ingest.postgres.embedded.binaries import find_binaries
from ingest.postgres.embedded.server import EmbeddedPostgres
from ingest.postgres.migrations import migrate
from ingest.store.limits import usage
from ingest.store.tenants import applications
from tests.support.crawl.crawl_sources import SITE, add_page, start
from tests.support.notification_fixtures import add_endpoint
from tests.support.queue_builders import add_worker, upload
from tests.support.searchable_chunks import add_document, add_space

FIXTURES = Path(__file__).parent / "db" / "postgres" / "fixtures"

# Tables that the functions of the store do not fill below.
_ROWS = (
    "insert into app.api_keys (application_id, name, role, prefix, key_hash) "
    "select id, 'a key', 'editor', 'rag_abcd', sha256('a key') from app.applications",
    "insert into app.tickets (ticket_hash, application_id, key_id, role, expires_at) "
    "select sha256('a ticket'), application_id, id, role, now() from app.api_keys",
    "insert into app.sessions (session_hash, application_id, key_id, expires_at) "
    "select sha256('a session'), application_id, id, now() from app.api_keys",
    "insert into app.sign_in_codes (code_hash, application_id, operator_seal, expires_at) "
    "select sha256('a code'), id, 'a seal', now() from app.applications",
    "insert into rag.collections (id, application_id, name) "
    "select gen_random_uuid(), id, 'a collection' from app.applications",
    "insert into rag.collection_sources (collection_id, source_id, application_id) "
    "select collection.id, source.id, collection.application_id "
    "from rag.collections as collection, rag.knowledge_sources as source",
    "insert into app.api_keys (application_id, name, role, prefix, key_hash, is_limited) "
    "select id, 'a limited key', 'viewer', 'rag_efgh', sha256('b'), true from app.applications",
    "insert into app.api_key_collections (key_id, collection_id, application_id) "
    "select key.id, collection.id, key.application_id "
    "from app.api_keys as key, rag.collections as collection where key.is_limited",
    "insert into rag.page_words (document_id, page, application_id, source_id, words) "
    "select id, 1, application_id, source_id, 'words' from rag.documents",
    "insert into rag.page_images (document_id, page, width, application_id, source_id, "
    "content_hash, blob_key, size_bytes) "
    "select id, 1, 640, application_id, source_id, content_hash, 'a key', 7 from rag.documents",
    "insert into rag.reembedded_documents (document_id, model_id, application_id, "
    "document_updated_at) select id, embedding_model_id, application_id, updated_at "
    "from rag.documents where embedding_model_id is not null",
    "insert into rag.judgements (id, application_id, set_name, query, question_hash, source_id, "
    "uri, quote, grade) select gen_random_uuid(), application_id, 'default', 'a question', "
    "sha256('a question'), source_id, uri, 'a sentence', 3 from rag.documents",
    "insert into rag.activity (application_id, minute, worker_id, type, outcome, n) "
    "select application.id, date_trunc('minute', now()), worker.id, 'file', 'completed', 1 "
    "from app.applications as application, rag.workers as worker",
    "insert into rag.token_usage (application_id, day, tokens) "
    "select id, current_date, 7 from app.applications",
    "insert into rag.idempotency_keys (application_id, key, request_hash, status, response) "
    "select id, 'a key', sha256('a request'), 202, '{}' from app.applications",
    # One chunk under the HNSW index, the other beside it.
    "with moved as (delete from rag.embeddings_fresh where chunk_id = (select min(id::text)::uuid "
    "from rag.chunks) returning *) insert into rag.embeddings select * from moved",
    "insert into rag.embedding_cache (application_id, model_id, text_hash, embedding) "
    "select application_id, model_id, sha256('a text'), embedding from only rag.embeddings",
    "insert into rag.job_logs (job_id, attempt, level, message) "
    "select id, 1, 'info', 'a step' from rag.processing_jobs",
    "insert into rag.bulk_parts (job_id, part, application_id, row_count, ids) "
    "select id, 0, application_id, 1, array[knowledge_source_id] from rag.processing_jobs "
    "where knowledge_source_id is not null limit 1",
    "insert into rag.schedules (name, scheduled_for) values ('process-jobs', now())",
    "insert into rag.lanes (lane, requests, tokens) values ('local', 1, 2)",
    "insert into rag.crawl_origins (origin, robots_status, robots_body, robots_fetched_at) "
    "values ('https://site.example', 'rules', 'User-agent: *', now())",
    "insert into rag.site_furniture (source_id, application_id, blocks) "
    "select source_id, application_id, '[]' from rag.crawls",
    "insert into rag.crawl_slots (job_id, origin, expires_at) "
    "select job_id, 'https://site.example', now() from rag.crawls",
    "insert into rag.webhook_events (provider, dedupe_key, body, size_bytes) "
    "values ('firecrawl', sha256('{}'), '{}', 2)",
    "insert into rag.webhook_deliveries (id, endpoint_id, application_id, event, dedupe_key, body) "
    "select gen_random_uuid(), id, application_id, 'source.completed', 'once', '{}' "
    "from rag.webhook_endpoints",
)

# A parent of other tables, without rows of its own.
_ALWAYS_EMPTY = "rag.unprotected_chunks"

# Lines of pg_dump: commands of psql, settings and a syntax that older servers do not know (the
# primary key says the same), comments.
_LEFT_OUT = ("\\", "SET ", "    NOT NULL ", "--")


async def fill(dsn: str) -> None:
    """Add rows to every table of a migrated database without any."""
    async with await AsyncConnection.connect(dsn, autocommit=True) as conn:
        await register_vector_async(conn)
        application_id = await applications.default_id(conn)
        space = await add_space(conn)
        await add_document(conn, application_id, space, ["the owl sleeps", "the fox runs"])
        await upload(conn, application_id, "a.txt", model_id=space.id)
        await add_page(conn, await start(conn, application_id), SITE)
        await add_endpoint(conn, application_id, "https://site.example/hook")
        await add_worker(conn)
        for statement in _ROWS:
            await conn.execute(statement)
        async with conn.transaction():
            await usage.fold(conn, limit=1)  # the other changes stay


def empty_tables(dsn: str) -> list[str]:
    """The names of tables that `fill` has forgotten."""
    with psycopg.connect(dsn) as conn:
        tables = conn.execute(
            "select schemaname, tablename from pg_tables where schemaname in ('app', 'rag')"
        ).fetchall()
        return [
            ".".join(table)
            for table in tables
            if ".".join(table) != _ALWAYS_EMPTY
            and not conn.execute(
                sql.SQL("select from only {} limit 1").format(sql.Identifier(*table))
            ).rowcount
        ]


def _dump(dsn: str) -> str:
    command = [str(find_binaries() / "pg_dump"), "--schema=app", "--schema=rag", "--column-inserts"]
    dumped = subprocess.run(
        [*command, "--no-owner", "--no-privileges", "--no-comments", f"--dbname={dsn}"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    kept = [line for line in dumped.splitlines() if not line.startswith(_LEFT_OUT)]
    # Functions come before the tables that they read.
    start = (
        "set check_function_bodies = off;\ncreate extension if not exists vector schema public;\n"
    )
    return start + "\n".join(
        line for line, before in zip(kept, ["", *kept], strict=False) if line or before
    )


def main() -> None:
    target = FIXTURES / f"{version('rag-ingest')}.sql"
    if target.exists():
        raise SystemExit(f"{target.name} exists, and a released dump never changes")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # the account of the embedded server passes through
        with EmbeddedPostgres(Path(folder)) as dsn:
            migrate(dsn)
            asyncio.run(fill(dsn))
            if empty := empty_tables(dsn):
                raise SystemExit(f"add rows to {', '.join(empty)}")
            target.write_text(_dump(dsn) + "\n")
    print(f"{target}: {target.stat().st_size:,} bytes")  # noqa: T201


if __name__ == "__main__":
    main()
