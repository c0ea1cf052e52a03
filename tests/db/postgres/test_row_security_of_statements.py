"""A statement that forgets its application touches nothing of another one."""

import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import psycopg

from ingest.postgres.database import Connection, Pool, show, transaction
from tests.db.postgres.named_statements import numbered, statements
from tests.db.postgres.two_applications import OURS, THEIRS, delete_all_of, tables, value_of
from tests.support.lock_recorder import LockRecorder


def _parameters(conn: psycopg.Connection[Any], text: bytes) -> dict[str, Any] | None:
    """A value for each parameter: ids of the other application. None: Postgres needs casts."""
    statement, names = numbered(text)
    if not names:
        return {}
    try:
        with conn.transaction():
            conn.execute(b"prepare probe as " + statement)
            row = conn.execute(
                "select parameter_types::text[] from pg_prepared_statements where name = 'probe'"
            ).fetchone()
            conn.execute("deallocate probe")
    except psycopg.Error:
        return None
    assert row is not None
    return {name: value_of(name, type) for name, type in zip(names, row[0], strict=True)}


async def test_named_statements_with_the_ids_of_another_application_touch_nothing_of_it(
    rows: psycopg.Connection[Any], pool: Pool, lock_recorder: LockRecorder
) -> None:
    """Each is run with the other application's id instead of ours, as if it had no condition."""
    owned = re.compile("|".join(re.escape(name) for name in tables(rows)).encode())
    delete_all_of(rows, OURS)  # some look at whatever the transaction sees
    calls = {
        name: (text, parameters)
        for name, text in statements().items()
        if owned.search(text) and (parameters := _parameters(rows, text)) is not None
    }

    async def touched(scope: UUID) -> dict[str, int]:
        async with transaction(pool.of(OURS)) as conn:
            return {name: await _touched(conn, *call, scope=scope) for name, call in calls.items()}

    theirs, ours = await touched(THEIRS), await touched(OURS)
    delete_all_of(rows, THEIRS)
    empty = await touched(THEIRS)
    lock_recorder.violations.clear()  # all ran in one transaction

    # Inserts are refused; others do what they do without the rows.
    assert {name for name in calls if ours[name] not in (0, empty[name])} == set()
    # Most of them reach the other application's rows if they may: the test is not empty.
    assert sum(theirs[name] != empty[name] for name in calls) > 60


async def _touched(
    conn: Connection, text: bytes, parameters: Mapping[str, Any], *, scope: UUID
) -> int:
    """Rows that the statement returns or changes; it is rolled back."""
    try:
        async with conn.transaction(force_rollback=True):
            await show(conn, scope)
            cursor = await conn.execute(text, parameters)
            found = await cursor.fetchall() if cursor.description else []
            if cursor.description is None:
                return cursor.rowcount
            # A row of nothing but nulls, zeros and false says that there is nothing.
            return sum(any(value for value in row) for row in found)
    except psycopg.Error:
        return 0
