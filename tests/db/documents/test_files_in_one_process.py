"""Files of one application that a parser process got together, and whose jobs then differ."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from harness.patience import AGES
from ingest.blobs.local import LocalBlobStore
from ingest.handlers.documents.file import ingest_file
from ingest.postgres.database import Connection, Pool
from ingest.sandbox.jail import Confinement
from ingest.sandbox.messages import Parsed, ParseRequest
from ingest.sandbox.pool import ParserPool
from ingest.store.embeddings import embedding_models
from ingest.store.sources import source_control
from tests.support.fake_embedder import FakeEmbedder
from tests.support.file_fixtures import House
from tests.support.running_worker import running_worker, until
from tests.unit.sandbox.hostile_files import LINUX, MIB, noted_pid

pytestmark = LINUX


class InOrder(ParserPool):
    """Is asked for the file that waits first, and for all three at once: their jobs are claimed in
    any order."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._all_there = asyncio.Barrier(3)
        self._first_asked = asyncio.Event()

    async def parse(self, path: Path, request: ParseRequest, **caller: Any) -> Parsed:
        await self._all_there.wait()
        if "wait" not in await asyncio.to_thread(path.read_text):
            await self._first_asked.wait()
        self._first_asked.set()
        return await super().parse(path, request, **caller)


class Together:
    """Three files of which the first is being read, and the others are behind it."""

    def __init__(self, conn: Connection, application_id: UUID, end: Path) -> None:
        self._conn = conn
        self.application_id = application_id
        self.sources: list[UUID] = []
        self.end = end

    async def statuses(self) -> list[str]:
        cursor = await self._conn.execute(
            "select status from rag.knowledge_sources order by array_position(%s, id)",
            [self.sources],
        )
        return [status for (status,) in await cursor.fetchall()]

    async def until(self, *statuses: str) -> None:
        async def reached() -> bool:
            return await self.statuses() == list(statuses)

        await until(reached)

    async def texts(self) -> list[str]:
        cursor = await self._conn.execute("select text from rag.documents order by text")
        return [text for (text,) in await cursor.fetchall()]

    async def attempts(self) -> set[int]:
        cursor = await self._conn.execute("select attempts from rag.processing_jobs")
        return {attempts for (attempts,) in await cursor.fetchall()}


@pytest.fixture
async def together(
    dsn: str,
    pool: Pool,
    conn: Connection,
    blobs: LocalBlobStore,
    application_id: UUID,
    tmp_path: Path,
) -> AsyncIterator[Together]:
    house = House(pool, blobs, await embedding_models.register(conn, FakeEmbedder().model))
    parsers = InOrder(
        size=1,
        timeout=AGES,
        memory=1024 * MIB,
        child="tests.servers.hostile_parser",
        confinement=Confinement(mode="off"),
    )
    house.parser = parsers  # type: ignore[assignment]
    pid, end = tmp_path / "pid", tmp_path / "end"
    files = Together(conn, application_id, end)
    for name, text in (("a", f"behind 2 wait {pid} {end}"), ("b", "say b"), ("c", "say c")):
        files.sources.append(await house.upload(application_id, f"{name}.txt", text))
    handlers = {"file": ingest_file}
    async with running_worker(dsn, pool, handlers, concurrency=8, context=house.context):
        await noted_pid(pid)
        yield files
    await parsers.close()


@pytest.mark.parametrize("cancelled", [0, 1])
async def test_cancelling_a_source_leaves_the_others(
    together: Together, conn: Connection, cancelled: int
) -> None:
    await source_control.cancel(
        conn,
        application_id=together.application_id,
        source_ids=[together.sources[cancelled]],
    )
    if cancelled:
        await asyncio.to_thread(together.end.touch)

    expected = ["completed"] * 3
    expected[cancelled] = "cancelled"
    await together.until(*expected)
    assert await together.texts() == (["c", "waited"] if cancelled else ["b", "c"])
    assert await together.attempts() == {1}


async def test_a_job_that_was_lost_meanwhile_writes_nothing(
    together: Together, conn: Connection
) -> None:
    await conn.execute(
        "update rag.processing_jobs set fence = fence + 1 where knowledge_source_id = %s",
        [together.sources[1]],
    )

    await asyncio.to_thread(together.end.touch)

    await together.until("completed", "processing", "completed")
    assert await together.texts() == ["c", "waited"]
