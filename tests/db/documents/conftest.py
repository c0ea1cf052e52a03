"""An application whose embedding model changes."""

from uuid import UUID

import pytest

from ingest.blobs.local import LocalBlobStore
from ingest.postgres.database import Pool
from tests.support.model_change_fixtures import ModelChange, model_change


@pytest.fixture
async def change(pool: Pool, blobs: LocalBlobStore, application_id: UUID) -> ModelChange:
    return await model_change(pool, blobs, application_id)
