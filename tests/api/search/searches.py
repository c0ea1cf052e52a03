"""Chunks to be found, and searches for them."""

from typing import Any
from uuid import UUID

import httpx
import numpy as np

from ingest.postgres.database import Connection
from tests.api.conftest import fake_vector
from tests.support.searchable_chunks import Space, add_document


async def add(
    conn: Connection, application_id: UUID, space: Space, *texts: str, metadata: str = "{}"
) -> UUID:
    """Chunks whose vectors are those of queries with the same text."""
    vectors = np.stack([fake_vector(text) for text in texts])
    return await add_document(
        conn, application_id, space, texts, vectors=vectors, metadata=metadata
    )


async def find(client: httpx.AsyncClient, query: str, **body: Any) -> list[dict[str, Any]]:
    answer = await client.post("/api/search", json={"query": query, **body})
    assert answer.status_code == 200, answer.text
    hits: list[dict[str, Any]] = answer.json()["hits"]
    return hits
