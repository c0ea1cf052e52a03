"""Fixtures for files inside files: real database, blob folder and parsers, and a fake embedder."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

from psycopg.rows import dict_row

from ingest.chunking.chunk import chunk
from ingest.formats.archives.members import FolderSink
from ingest.formats.archives.unpack import unpack
from ingest.formats.registry import extract
from ingest.handlers.context import ArchiveLimits, Context, Progress
from ingest.handlers.documents.archive import unpack_archive
from ingest.handlers.documents.file import ingest_file, ingest_member
from ingest.model import Sitemap
from ingest.postgres.database import Connection, new_id, transaction
from ingest.sandbox.messages import (
    Parsed,
    ParseRequest,
    Rechunked,
    RechunkRequest,
    SitemapRequest,
    Unpacked,
    UnpackRequest,
)
from ingest.store.queue import job_types
from ingest.store.queue.jobs import ClaimedJob
from ingest.store.sources import uploads
from ingest.store.sources.upload_verdicts import FileVerdict, UploadedFile, UploadRequest
from ingest.tokens.tokenizers import load_tokenizer
from ingest.worker.attempt import attempt
from ingest.worker.commit import Finished, commit
from tests.support.file_fixtures import House
from tests.support.queue_builders import claim


class InProcessParser:
    """Parses in the test's own process. Records the names of the files it parsed."""

    def __init__(self) -> None:
        self.read: list[str] = []

    async def parse(
        self,
        path: Path,
        request: ParseRequest,
        *,
        owner: UUID,
        on_page: Callable[[], None] | None = None,
    ) -> Parsed:
        self.read.append(request.name)
        assert request.members is not None
        sink = FolderSink(
            Path(request.members), max_members=100, max_bytes=2**30, max_member_bytes=2**30
        )
        with path.open("rb") as file:  # the file is only a few bytes
            document = extract(
                file, name=request.name, members=sink, max_inflated=request.max_inflated
            )
        chunks = chunk(
            document,
            tokenizer=load_tokenizer(request.chunk.tokenizer),
            size=request.chunk.size,
            overlap=request.chunk.overlap,
        )
        return Parsed(
            document=document,
            chunks=chunks,
            extract_seconds=0.0,
            chunk_seconds=0.0,
            members=tuple(sink.members),
        )

    async def unpack(self, path: Path, request: UnpackRequest, *, owner: UUID) -> Unpacked:
        sink = FolderSink(
            Path(request.folder),
            max_members=request.max_members,
            max_bytes=request.max_bytes,
            max_member_bytes=request.max_member_bytes,
        )
        with path.open("rb") as file:
            skipped = unpack(file, name=request.name, sink=sink, on_member=lambda: None)
        return Unpacked(members=tuple(sink.members), skipped=skipped)

    async def rechunk(self, text: str, request: RechunkRequest, *, owner: UUID) -> Rechunked:
        raise NotImplementedError

    async def read_sitemap(self, path: Path, request: SitemapRequest, *, owner: UUID) -> Sitemap:
        raise NotImplementedError


class ArchiveHouse(House):
    """The handlers of files and archives, run one job at a time."""

    limits = ArchiveLimits()

    def __init__(self, house: House) -> None:
        super().__init__(house.pool, house.blobs, house.model_id)
        self.reader = InProcessParser()

    @property
    def context(self) -> Context:
        return replace(super().context, parser=self.reader, archives=self.limits)

    async def add(self, application_id: UUID, path: str, data: bytes) -> FileVerdict:
        """Upload a file without running any job."""
        staged = self.blobs.stage(f"{application_id}/{new_id()}")
        await staged.write(data)
        await self.blobs.commit([staged])
        file = UploadedFile(
            path=path,
            size=len(data),
            sha256=hashlib.sha256(data).digest(),
            blob_key=staged.key,
        )
        request = UploadRequest(
            application_id=application_id, batch_id=None, model_id=self.model_id
        )
        async with transaction(self.pool) as conn:
            _, [verdict] = await uploads.register(conn, request, [file])
        return verdict

    async def ingest(self, application_id: UUID, path: str, data: bytes) -> UUID:
        """Upload a file and run all jobs that follow; returns the id of its source."""
        verdict = await self.add(application_id, path, data)
        await self.run_all()
        assert verdict.source_id is not None
        return verdict.source_id

    async def run_all(self) -> None:
        while job := await self.claim():
            await self.carry_out(job)

    async def claim(self) -> ClaimedJob | None:
        async with transaction(self.pool) as conn:
            return next(iter(await claim(conn, types=["file", "archive", "member"])), None)

    async def carry_out(self, job: ClaimedJob) -> Finished:
        finished = await self.attempt(job)
        await commit(self.pool, [finished])
        return finished

    async def attempt(self, job: ClaimedJob) -> Finished:
        """Run the job without committing its outcome."""
        async with transaction(self.pool) as conn:
            types = {row.type: row for row in await job_types.all_types(conn)}
        finished = await attempt(
            job,
            types[job.type],
            handlers={"file": ingest_file, "member": ingest_member, "archive": unpack_archive},
            context=self.context,
            progress=Progress(job),
        )
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
