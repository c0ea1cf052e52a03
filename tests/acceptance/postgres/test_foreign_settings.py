"""Somebody else's database: pgvector in a schema of its own, a role with settings of its own."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from harness.database import Database
from harness.service import Service, until
from tests.acceptance.files import sentence, text_file

_ROLE = """
create role guest login superuser;
create schema extensions;
create extension vector schema extensions;
"""
_SETTINGS = {
    "bytea_output": "escape",
    "client_encoding": "latin1",
    "datestyle": "German, DMY",
    "default_text_search_config": "pg_catalog.german",
    "default_transaction_isolation": "serializable",
    "default_transaction_read_only": "on",
    "extra_float_digits": "-15",
    "idle_session_timeout": "500ms",
    "intervalstyle": "sql_standard",
    "jit": "on",
    "lock_timeout": "1ms",
    "search_path": "nowhere",
    "standard_conforming_strings": "off",
    "statement_timeout": "5s",
    "timezone": "Pacific/Kiritimati",
}
_PAGES = {
    "index.html": '<p>Home of herons.</p><a href="two.html">more</a>',
    "two.html": "<p>Two.</p>",
}


@contextmanager
def _site(folder: Path) -> Iterator[str]:
    for name, body in _PAGES.items():
        (folder / name).write_text(f"<html><body><main>{body}</main></body></html>")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/index.html"
        finally:
            server.shutdown()


def _guest(database: Database) -> str:
    """The DSN of an empty database, for a role with settings of its own."""
    database.execute("create database theirs template template0")
    theirs = make_conninfo(database.dsn, dbname="theirs")
    with psycopg.connect(theirs, autocommit=True) as conn:
        conn.execute(_ROLE)
        for name, value in _SETTINGS.items():
            setting = psycopg.sql.SQL("alter role guest set {} = {}")
            conn.execute(setting.format(psycopg.sql.Identifier(name), psycopg.sql.Literal(value)))
    return make_conninfo(database.service_dsn, dbname="theirs", user="guest")


def test_role_and_database_settings_do_not_change_results(
    database: Database, start: Callable[..., Service], tmp_path: Path
) -> None:
    settings = {"DATABASE_URL": _guest(database), "INGEST_FETCH_ALLOW": "127.0.0.1"}
    with _site(tmp_path) as url:
        service = start("serve", **settings).wait_until_ready()
        application = service.get("/api/applications")["items"][0]["id"]
        service.upload(text_file(number) for number in range(5))
        site = service.http.post("/upload/url", json={"url": url, "crawlLinks": True}).json()
        service.wait_until_terminal(application)
        until(lambda: service.source(site["knowledgeSourceId"])["status"] == "completed")
    pages = list(service.pages(f"/api/knowledge-sources/{site['knowledgeSourceId']}/documents"))
    hits = service.search(sentence(3))
    readiness = service.get("/readyz")

    assert service.progress(application)["failed"] == 0
    assert len(pages) == len(_PAGES)
    assert hits[0]["uri"] == text_file(3)[0]
    if os.environ.get("INGEST_TEST_POOLER") != "transaction":
        assert (readiness["status"], readiness["listener"]) == ("ready", True)
