"""Showing a page costs the same however many documents, chunks and pictures there are."""

from collections.abc import Mapping
from typing import Any, Final, LiteralString
from uuid import UUID

import pytest

from ingest.postgres.database import Connection, load_queries

_IMAGES: Final = load_queries("pages/page_images.sql")
_VIEWS: Final = load_queries("pages/page_views.sql")
_DOCUMENT: Final = UUID(int=7)
_OWNER: Final = UUID(int=1)
_ROWS: Final = 40_000

_LOAD: Final[tuple[LiteralString, ...]] = (
    "set local session_replication_role = replica",
    "insert into rag.page_images (document_id, page, width, application_id, source_id, "
    "content_hash, blob_key, size_bytes, used_at) "
    "select lpad(to_hex(n / 40), 32, '0')::uuid, n % 40 + 1, 640, lpad('1', 32, '0')::uuid, "
    "lpad(to_hex(n / 400), 32, '0')::uuid, '', 'blob ' || n, 1000, now() - n * interval '1 s' "
    "from generate_series(1, 40000) as n",
    "insert into rag.page_words (document_id, page, application_id, source_id, words) "
    "select document_id, page, application_id, source_id, 'w' from rag.page_images",
    "insert into rag.chunks (id, application_id, source_id, document_id, ordinal, content, "
    "embedded_hash, token_count, char_start, char_end, section_start, section_end) "
    "select gen_random_uuid(), application_id, source_id, document_id, page, 'text', '', 1, "
    "page * 10, page * 10 + 12, 0, 9 from rag.page_images",
    "analyze rag.page_images",
    "analyze rag.page_words",
    "analyze rag.chunks",
)


async def rows_read(conn: Connection, query: bytes, values: Mapping[str, Any]) -> list[Any]:
    """The scans of tables: index, rows that it returned and that it dropped."""
    [[plan]] = await (
        await conn.execute(b"explain (analyze, format json) " + query, values)
    ).fetchall()
    found = []

    def visit(node: Mapping[str, Any]) -> None:
        if "Relation Name" in node:
            read = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
            found.append((node.get("Index Name"), node["Node Type"], read * node["Actual Loops"]))
        for child in node.get("Plans", ()):
            visit(child)

    visit(plan[0]["Plan"])
    return found


@pytest.fixture
async def many(conn: Connection) -> Connection:
    async with conn.transaction():
        for statement in _LOAD:
            await conn.execute(statement)
    return conn


async def test_a_page_and_its_picture_read_few_rows(many: Connection) -> None:
    key = {"document_id": _DOCUMENT, "page": 3, "width": 640, "content_hash": b""}
    chunks = {
        "document_id": _DOCUMENT, "application_id": _OWNER, "after": None, "start": 30,
        "until": 41, "limit": 200,
    }  # fmt: skip

    for query, values in (
        (_IMAGES["find"], key),
        (_IMAGES["replaced"], key),
        (_IMAGES["referenced_blobs"], {"keys": ["blob 5", "blob 6", "another"]}),
        (_VIEWS["words"], key),
        (_VIEWS["chunks"], chunks),
    ):
        scans = await rows_read(many, query, values)
        assert all(read <= 41 for _, _, read in scans), (query, scans)


async def test_eviction_reads_the_index_of_uses_only(many: Connection) -> None:
    budget = (1000 + 16384) * (_ROWS - 500)
    async with many.transaction(force_rollback=True):
        scans = await rows_read(many, _IMAGES["evict"], {"budget": budget, "limit": 500})

    [(index, kind, _)] = [scan for scan in scans if scan[2] > 1000]
    assert (index, kind) == ("page_images_used", "Index Only Scan")
