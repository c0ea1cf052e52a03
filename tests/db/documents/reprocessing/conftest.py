"""What cuts documents again."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ingest.postgres.database import Pool
from tests.db.documents.reprocessing.rechunk_fixtures import RechunkHouse, rechunk_house


@pytest.fixture
async def rechunker(pool: Pool, tmp_path: Path) -> AsyncIterator[RechunkHouse]:
    async with rechunk_house(pool, tmp_path) as rechunker:
        yield rechunker
