"""Rows of two applications."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

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
