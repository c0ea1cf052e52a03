"""A source whose first or second version waits for a review."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from psycopg.types.json import Jsonb

from ingest.blobs.local import LocalBlobStore
from ingest.model import Coverage
from ingest.postgres.database import Connection, Pool
from ingest.store.embeddings import embedding_models
from tests.support.fake_embedder import FakeEmbedder
from tests.support.file_fixtures import House
from tests.support.queue_builders import job_row, source_row

GOOD = Coverage(pages=10, with_text=10, empty=0)
POOR = Coverage(pages=10, with_text=2, empty=0, unread=8, lost=(3, 4, 5, 6, 7, 8, 9, 10))
OLD, NEW = "an old version", "a new version"


@pytest.fixture
async def house(
    pool: Pool, conn: Connection, application_id: UUID, tmp_path: Path
) -> AsyncIterator[House]:
    """The handler, for an application that wants to be asked about files with poor coverage."""
    blobs = LocalBlobStore(tmp_path / "blobs")
    await conn.execute(
        "update app.applications set settings = %s where id = %s",
        [Jsonb({"reviews": ["low_coverage"]}), application_id],
    )
    yield House(pool, blobs, await embedding_models.register(conn, FakeEmbedder().model))
    await blobs.close()


@pytest.fixture(params=[False, True], ids=["first", "second"])
async def waiting(request: pytest.FixtureRequest, house: House, application_id: UUID) -> UUID:
    """The job of a file that waits for a review, as its first or its second version."""
    if request.param:
        house.parser.coverage = GOOD
        await house.upload(application_id, "a.pdf", OLD)
        await house.run()
    house.parser.coverage = POOR
    await house.upload(application_id, "a.pdf", NEW)
    return (await house.run()).ended.job.id


async def rows(conn: Connection, query: Any, *values: Any) -> list[Any]:
    return await (await conn.execute(query, values)).fetchall()


async def held(conn: Connection) -> int:
    return len(await rows(conn, "select from rag.documents where held_by_job_id is not null"))


async def source_of(conn: Connection, job_id: UUID) -> dict[str, Any]:
    return await source_row(conn, (await job_row(conn, job_id))["knowledge_source_id"])
