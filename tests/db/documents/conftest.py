"""The house of the file handler, and an application whose embedding model changes."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import pytest

from ingest.blobs.local import LocalBlobStore
from ingest.postgres.database import Pool
from ingest.store.embeddings import embedding_models
from tests.support.fake_embedder import FakeEmbedder
from tests.support.file_fixtures import House
from tests.support.model_change_fixtures import ModelChange, model_change


@pytest.fixture
async def change(pool: Pool, blobs: LocalBlobStore, application_id: UUID) -> ModelChange:
    return await model_change(pool, blobs, application_id)


@pytest.fixture
async def house(pool: Pool, tmp_path: Path) -> AsyncIterator[House]:
    blobs = LocalBlobStore(tmp_path / "blobs")
    async with pool.session() as conn, conn.transaction():
        model_id = await embedding_models.register(conn, FakeEmbedder().model)
    yield House(pool, blobs, model_id)
    await blobs.close()
