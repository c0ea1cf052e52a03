"""Fixtures for files inside files: real database, blob folder and parsers, and a fake embedder."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any
from uuid import UUID

from psycopg.rows import dict_row

from ingest.handlers.context import ArchiveLimits, Context
from ingest.handlers.documents.archive import unpack_archive
from ingest.handlers.documents.file import ingest_file, ingest_member
from ingest.postgres.database import Connection, transaction
from ingest.store.queue.jobs import ClaimedJob
from ingest.worker.commit import Finished
from tests.support.file_fixtures import House
from tests.support.in_process_parser import InProcessParser
from tests.support.queue_builders import claim


class ArchiveHouse(House):
    """The handlers of files and archives, run one job at a time."""

    handlers = MappingProxyType(
        {"file": ingest_file, "member": ingest_member, "archive": unpack_archive}
    )
    limits = ArchiveLimits()

    def __init__(self, house: House) -> None:
        super().__init__(house.pool, house.blobs, house.model_id)
        self.reader = InProcessParser()

    @property
    def context(self) -> Context:
        return replace(super().context, parser=self.reader, archives=self.limits)

    async def ingest(self, application_id: UUID, path: str, data: bytes) -> UUID:
        """Upload a file and run all jobs that follow; returns the id of its source."""
        verdict = await self.send(application_id, path, data)
        await self.run_all()
        assert verdict.source_id is not None
        return verdict.source_id

    async def run_all(self) -> None:
        while job := await self.claim():
            await self.carry_out(job)

    async def claim(self) -> ClaimedJob | None:
        async with transaction(self.pool) as conn:
            return next(iter(await claim(conn, types=["file", "archive", "member"])), None)

    async def attempt(self, job: ClaimedJob) -> Finished:
        finished = await super().attempt(job)
        assert finished is not None
        return finished


async def source(conn: Connection, id: UUID) -> Mapping[str, Any]:
    async with conn.cursor(row_factory=dict_row) as cur:
        await cur.execute("select * from rag.knowledge_sources where id = %s", [id])
        row = await cur.fetchone()
    assert row is not None
    return row


async def texts(conn: Connection, source_id: UUID) -> dict[str, str]:
    """Text of each searchable document of a source, by uri."""
    cursor = await conn.execute(
        "select uri, text from rag.documents where source_id = %s and deleted_at is null"
        " order by uri",
        [source_id],
    )
    return {uri: text.strip() for uri, text in await cursor.fetchall()}


async def jobs_of(conn: Connection, source_id: UUID) -> dict[str, tuple[str, str | None]]:
    """Status and error code of the jobs for a source's files, by type and uri."""
    cursor = await conn.execute(
        "select type || ' ' || coalesce(document_uri, ''), status, last_error_code"
        " from rag.job_files where knowledge_source_id = %s",
        [source_id],
    )
    return {name: (status, code) for name, status, code in await cursor.fetchall()}
