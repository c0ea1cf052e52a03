"""A model without chunks."""

import pytest

from ingest.postgres.database import Connection
from tests.support.searchable_chunks import Space, add_space


@pytest.fixture
async def space(conn: Connection) -> Space:
    return await add_space(conn)
