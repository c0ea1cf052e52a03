"""Cosine similarities of chunks that are known already."""

from collections.abc import Sequence
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from pgvector import Vector

from ingest.postgres.database import Connection, load_queries

_SQL = load_queries("search/similarities.sql")


async def similarities(
    conn: Connection,
    ids: Sequence[UUID],
    vector: NDArray[np.float32],
    *,
    application_id: UUID,
    model_id: int,
) -> dict[UUID, float]:
    """By chunk; those without a vector of this model are missing."""
    cursor = await conn.execute(
        _SQL["similarities"],
        {
            "ids": list(ids),
            "vector": Vector(vector),
            "application_id": application_id,
            "model_id": model_id,
        },
    )
    return dict(await cursor.fetchall())
