"""What a search asks about embedding models costs the same with 100,000 documents."""

from typing import Any, Final
from uuid import UUID

import pytest
from psycopg import sql

from ingest.postgres.database import Connection
from ingest.store.embeddings import model_changes
from ingest.store.search import vector_search
from tests.support.searchable_chunks import add_space

DOCUMENTS: Final = 100_000


@pytest.fixture
async def models(conn: Connection, application_id: UUID) -> tuple[int, int]:
    """Two models; all documents of the application are searched by the second."""
    first, second = await add_space(conn, name="first"), await add_space(conn, name="second")
    await conn.execute("set session_replication_role = replica")
    await conn.execute(
        "insert into rag.documents (id, application_id, source_id, uri, media_type, status,"
        " content_hash, text, extractor, coverage, chunk_count, token_count, chunking,"
        " embedding_model_id) "
        "select gen_random_uuid(), %s, gen_random_uuid(), n::text, 't', 'completed', '', '', '',"
        " '{}', 1, 1, '{}', %s from generate_series(1, %s) n",
        [application_id, second.id, DOCUMENTS],
    )
    await conn.execute("set session_replication_role = origin")
    await conn.execute("analyze rag.documents")
    return first.id, second.id


def rows_of_documents(plan: dict[str, Any]) -> float:
    """Rows of rag.documents that the plan read."""
    own = plan.get("Relation Name") == "documents"
    read: float = plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)
    return own * read * int(plan["Actual Loops"]) + sum(
        map(rows_of_documents, plan.get("Plans", ()))
    )


async def explain(conn: Connection, statement: bytes, values: dict[str, Any]) -> dict[str, Any]:
    cursor = await conn.execute(
        b"explain (analyze, format json) " + statement, values, prepare=False
    )
    row = await cursor.fetchone()
    assert row is not None
    plan: dict[str, Any] = row[0][0]["Plan"]
    return plan


async def test_whether_documents_are_of_another_model_is_one_look_up(
    conn: Connection, application_id: UUID, models: tuple[int, int]
) -> None:
    in_use = {"application_id": application_id, "last": models[1]}

    listed = await explain(conn, model_changes._SQL["in_use"], in_use)

    assert rows_of_documents(listed) <= 2


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
async def test_the_begin_of_a_search_looks_up_with_a_plan_that_is_kept_too(
    conn: Connection, application_id: UUID, models: tuple[int, int], mode: str
) -> None:
    values = {
        "application_id": application_id,
        "model_id": models[1],
        "timeout_ms": "10000",
        "ef_search": "100",
    }
    begin = vector_search._SQL["begin"].decode()
    for place, name in enumerate(values, 1):
        begin = begin.replace(f"%({name})s", f"${place}")
    await conn.execute(f"prepare begin_search (uuid, smallint, text, text) as {begin}".encode())
    given = sql.SQL(", ").join(map(sql.Literal, values.values()))
    again = sql.SQL("execute begin_search ({})").format(given).as_bytes(conn)
    await conn.execute("select set_config('plan_cache_mode', %s, false)", [mode])

    asked = await explain(conn, again, {})

    assert rows_of_documents(asked) == 0
