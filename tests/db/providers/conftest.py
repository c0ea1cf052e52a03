"""The embedding service of a process, and that of another."""

from collections.abc import AsyncIterator

import pytest

from harness.pools import pool_across_applications
from ingest.embedding.service import EmbeddingService
from ingest.governor import Governor
from ingest.postgres.database import Pool
from tests.support.fake_embedder import FakeEmbedder


@pytest.fixture
async def service(embedder: FakeEmbedder, pool: Pool) -> AsyncIterator[EmbeddingService]:
    opened = EmbeddingService(embedder, Governor(pool))
    yield opened
    await opened.close()


@pytest.fixture
async def other_service(embedder: FakeEmbedder, dsn: str) -> AsyncIterator[EmbeddingService]:
    """Of another process that asks the same provider."""
    async with pool_across_applications(dsn, size=4, application_name="tests") as pool:
        yield EmbeddingService(embedder, Governor(pool))
