"""Rows of two applications, and data folders of the embedded Postgres."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from ingest.postgres.embedded.server import EmbeddedPostgres
from tests.db.postgres.two_applications import OURS, THEIRS, add_row, tables


@pytest.fixture
def rows(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    """Two applications with one row in each table, and a connection that sees all."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("set session_replication_role = replica")  # rows refer to rows added later
        conn.execute("delete from app.applications")
        for owner in (OURS, THEIRS):
            conn.execute("insert into app.applications (id, name) values (%s, 'a')", [owner])
            for table in tables(conn):
                add_row(conn, table, owner)
        yield conn


@pytest.fixture
def new_folder(tmp_path: Path) -> Path:
    """A data folder whose first start initialises a cluster."""
    return tmp_path / "data"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template")
    with EmbeddedPostgres(folder):
        return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path) -> Path:
    """A data folder with a cluster in it; a copy costs a tenth of an initialisation."""
    copy = tmp_path / "data"
    shutil.copytree(template, copy)
    return copy
