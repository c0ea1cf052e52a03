"""Row-level security is a second wall: a statement that forgets its application finds nothing."""

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.rows import scalar_row

from ingest.postgres.database import (
    Connection,
    Pool,
    across_applications,
    open_pool,
    transaction,
)
from ingest.postgres.migrations import migrate
from ingest.store.search.keyword_search import candidates_statement
from ingest.store.search.scope import SearchScope
from tests.db.postgres.named_statements import sql_files
from tests.db.postgres.two_applications import OURS, TABLES, THEIRS, tables


@asynccontextmanager
async def ours(pool: Pool) -> AsyncIterator[Connection]:
    """A transaction of our application that is rolled back."""
    async with transaction(pool.of(OURS)) as conn, conn.transaction(force_rollback=True):
        yield conn


# ---------------------------------------------------------------- what is protected


@pytest.fixture
def login(empty_database: str) -> Iterator[str]:
    """A role with an empty database, which may create roles and bypass policies."""
    with psycopg.connect(empty_database, autocommit=True) as conn:
        conn.execute("create extension vector")
        conn.execute("create role hosted login createrole bypassrls")
        database = sql.Identifier(conn.info.dbname)
        conn.execute(sql.SQL("grant create on database {} to hosted").format(database))
        yield make_conninfo(empty_database, user="hosted")
        own = conn.execute(
            "select rolname from pg_roles join pg_database on datname = current_database() "
            "where rolname like 'rag_ingest_' || pg_database.oid || '%'"
        ).fetchall()
        for (name,) in [*own, ("hosted",)]:
            role = sql.Identifier(name)
            conn.execute(sql.SQL("drop owned by {0} cascade; drop role {0}").format(role))


def test_every_table_with_an_application_has_a_policy_that_binds_its_owner_too(server: str) -> None:
    with psycopg.connect(server) as conn:
        found = {name: state for name, *state in conn.execute(TABLES)}

    assert found.pop("rag.unprotected_chunks") == [False, False, False]
    assert len(found) >= 15
    assert {name for name, state in found.items() if state != [True, True, True]} == set()


def test_only_the_index_of_words_is_read_with_the_rights_of_its_owner(server: str) -> None:
    with psycopg.connect(server) as conn:
        views = conn.execute(
            "select relname from pg_class where relkind = 'v' and relnamespace in "
            "('app'::regnamespace, 'rag'::regnamespace) "
            "and not coalesce('security_invoker=true' = any(reloptions), false)"
        ).fetchall()

    assert views == [("keyword_index",)]
    reads = re.compile(r"(from|join|into|update)\s+rag\.unprotected_chunks")
    assert not [path.name for path in sql_files() if reads.search(path.read_text())]


async def test_a_table_and_a_view_of_a_later_migration_are_protected_at_the_next_start(
    dsn: str, conn: Connection, pool: Pool
) -> None:
    await conn.execute("create table rag.later (application_id uuid not null)")
    await conn.execute("create view rag.later_view as select * from rag.later")
    try:
        migrate(dsn)
        await conn.execute("insert into rag.later values (%s), (%s)", [OURS, THEIRS])
        async with transaction(pool.of(OURS)) as reading:
            seen = [await _count(reading, name) for name in ("rag.later", "rag.later_view")]
    finally:
        await conn.execute("drop table rag.later cascade")

    assert seen == [1, 1]


async def test_a_login_that_is_exempt_but_may_create_roles_is_behind_the_wall(
    login: str,
) -> None:
    """As hosted Postgres gives it. From 16 on, it may not take the roles that it creates."""
    migrate(login)
    async with open_pool(login, size=1, application_name="test") as connections:
        assert connections.role is not None
        async with across_applications(connections).session() as conn:
            inherits = await conn.execute(
                "select count(*) from pg_roles "
                "where rolname like 'rag_ingest_%' and pg_has_role(oid, 'usage')"
            )
            # Rights outside of transactions, where the role across applications sees everything.
            assert await inherits.fetchone() == (0,)


async def test_transactions_take_a_role_that_can_neither_bypass_policies_nor_change_tables(
    pool: Pool, conn: Connection
) -> None:
    async with transaction(pool.of(OURS)) as working:
        [(role,)] = await (await working.execute("select current_user")).fetchall()
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            async with working.transaction():
                await working.execute("alter table rag.chunks disable row level security")
    cursor = await conn.execute(
        "select rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolcanlogin from pg_roles "
        "where rolname = %s",
        [role],
    )

    assert await cursor.fetchall() == [(False,) * 5]
    assert pool.connections.role == role


# ---------------------------------------------------------------- forgotten conditions


async def test_without_a_condition_each_table_has_rows_of_the_own_application_only(
    rows: psycopg.Connection[Any], pool: Pool
) -> None:
    for table in [*tables(rows), "app.applications"]:
        name = sql.Identifier(*table.split("."))
        column = sql.Identifier("id" if table == "app.applications" else "application_id")
        async with ours(pool) as conn:
            cursor = await conn.execute(sql.SQL("select {} from {}").format(column, name))
            assert set(await cursor.fetchall()) == {(OURS,)}, table
            moved = await conn.execute(sql.SQL("update {} set {c} = {c}").format(name, c=column))
            removed = await conn.execute(sql.SQL("delete from {}").format(name))
            # rag.embeddings has the rows of rag.embeddings_fresh too.
            expected = 2 if table == "rag.embeddings" else 1
            cascaded = {"app.applications": {1}}.get(table, {0, expected})
            assert moved.rowcount == expected, table
            assert removed.rowcount in cascaded | {expected}, table
        left = rows.execute(
            sql.SQL("select count(*) from {} where {} = {}").format(name, column, THEIRS)
        ).fetchone()
        assert left == (expected,), table


async def test_no_row_is_added_to_another_application_or_moved_there(
    rows: psycopg.Connection[Any], pool: Pool
) -> None:
    for table in tables(rows):
        name = sql.Identifier(*table.split("."))
        for statement in (
            sql.SQL("update {} set application_id = {}").format(name, THEIRS),
            sql.SQL("insert into {} (application_id) values ({})").format(name, THEIRS),
        ):
            async with ours(pool) as conn:
                with pytest.raises(psycopg.Error) as refused:
                    await conn.execute(statement)
            assert "row-level security" in str(refused.value), (table, statement)


async def _count(conn: Connection, table: str) -> int:
    query = sql.SQL("select count(*) from {}").format(sql.Identifier(*table.split(".")))
    [(count,)] = await (await conn.execute(query)).fetchall()
    return int(count)


# ---------------------------------------------------------------- the scope of a transaction


async def test_without_a_scope_nothing_is_seen_and_a_scope_ends_with_its_transaction(
    rows: psycopg.Connection[Any], pool: Pool
) -> None:
    async with pool.session() as conn:
        async with pool.of(OURS).begin(conn):
            ours = await _count(conn, "rag.chunks")
        async with pool.begin(conn):
            all_ = await _count(conn, "rag.chunks")
        async with conn.transaction():
            assert pool.connections.role is not None
            role = sql.Identifier(pool.connections.role)
            await conn.execute(sql.SQL("set local role {}").format(role))
            unscoped = await _count(conn, "rag.chunks")

    assert (ours, all_, unscoped) == (1, 2, 0)


async def test_a_statement_run_alone_has_the_scope_of_its_pool_and_leaves_none_behind(
    rows: psycopg.Connection[Any], pool: Pool
) -> None:
    count = b"select count(*) from rag.chunks"
    for each, expected in ((pool.of(OURS), [1]), (pool, [2]), (pool.of(OURS), [1])):
        assert await each.run_alone(count, {}, row_factory=scalar_row) == expected

    seen = b"select concat(current_user, current_setting('app.application_id', true))"
    alone = await pool.of(OURS).run_alone(seen, {}, row_factory=scalar_row)
    async with pool.session() as conn:
        [(left,)] = await (await conn.execute(seen)).fetchall()
        login = conn.info.user
    assert (alone, left) == ([f"{pool.connections.role}{OURS}"], login)


async def test_the_keyword_search_uses_its_index_behind_the_wall(
    rows: psycopg.Connection[Any], pool: Pool
) -> None:
    rows.execute(
        "insert into rag.chunks (id, application_id, source_id, document_id, ordinal, content, "
        "embedded_hash, token_count, char_start, char_end, section_start, section_end) "
        "select gen_random_uuid(), %s, gen_random_uuid(), gen_random_uuid(), n, 'word' || n, "
        "'x', 1, 0, 1, 0, 1 from generate_series(1, 5000) as n",
        [OURS],
    )
    rows.execute("analyze rag.chunks")
    candidates, scope = candidates_statement(SearchScope(application_id=OURS, is_hasty=True))
    terms = {name: ["{1}"] for name in ("first", "second", "third", "fourth", "phrases", "grams")}
    async with transaction(pool.of(OURS)) as conn:
        await conn.execute("set local enable_seqscan = off")
        cursor = await conn.execute(sql.SQL("explain ") + candidates, {**terms, **scope, "most": 9})
        plan = [line for (line,) in await cursor.fetchall()]

    for index in ("chunks_words", "chunks_grams"):
        assert any(index in line for line in plan), plan
