"""What tests of index builds look at, and how they begin one."""

from uuid import UUID

import numpy as np
import pytest
from numpy.typing import NDArray

from ingest.postgres.database import Connection, Pool, transaction
from ingest.search import vector_ranking
from ingest.store.embeddings import index_builds
from ingest.store.search.scope import SearchScope
from ingest.ticks import index_plan
from tests.support.searchable_chunks import Space, add_document, nearest


async def indexes(conn: Connection) -> dict[str, bool]:
    """The HNSW indexes, and whether they are valid."""
    cursor = await conn.execute(
        "select index.relname, entry.indisvalid from pg_index as entry "
        "join pg_class as index on index.oid = entry.indexrelid "
        "where index.relname like 'embeddings_hnsw_%'"
    )
    return dict(await cursor.fetchall())


async def state(conn: Connection, space: Space) -> tuple[int, int | None, int]:
    cursor = await conn.execute(
        "select index_generation, build_generation, build_attempts from rag.embedding_models "
        "where id = %s",
        [space.id],
    )
    [row] = await cursor.fetchall()
    return row[0], row[1], row[2]


async def add_vectors(conn: Connection, application_id: UUID, space: Space, count: int) -> UUID:
    return await add_document(conn, application_id, space, [f"text {n}" for n in range(count)])


async def exact(conn: Connection, space: Space, query: NDArray[np.float32]) -> list[UUID]:
    cursor = await conn.execute(
        "select chunk_id from rag.embeddings where model_id = %s "
        "order by embedding <=> %s::vector limit 10",
        [space.id, str(query.tolist())],
    )
    return [row[0] for row in await cursor.fetchall()]


async def all_are_found(conn: Connection, application_id: UUID, space: Space) -> bool:
    """Whether searches find what a comparison with all vectors finds."""
    scope = SearchScope(application_id=application_id)
    return all(
        [
            await nearest(conn, scope, space, query) == await exact(conn, space, query)
            for query in space.clustered(5)
        ]
    )


async def begin(pool: Pool, space: Space) -> index_builds.Build:
    async with transaction(pool) as conn:
        return await index_builds.begin(conn, space.id)


def build_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few vectors are many, and none are too few for the index."""
    monkeypatch.setattr(index_plan, "_FEWEST", 20)
    monkeypatch.setattr(vector_ranking, "_EXACT_NUMBERS", 0)
