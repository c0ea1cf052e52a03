"""Fixtures for the file handler: a real database and blob folder, a fake parser and embedder."""

import hashlib
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import cast
from uuid import UUID

from ingest.analysis.chunk_terms import with_terms
from ingest.blobs.local import LocalBlobStore
from ingest.embedding.service import EmbeddingService
from ingest.errors import IngestError
from ingest.governor import Governor
from ingest.handlers.context import Context, Web
from ingest.handlers.documents.file import ingest_file
from ingest.handlers.registry import Handler
from ingest.model import Chunk, ChunkSettings, Coverage, Document, Sitemap
from ingest.page_words import PageWords
from ingest.postgres.database import Pool, new_id, transaction
from ingest.sandbox.messages import (
    Parsed,
    ParseRequest,
    Rechunked,
    RechunkRequest,
    SitemapRequest,
    Unpacked,
    UnpackRequest,
)
from ingest.store.queue.jobs import ClaimedJob
from ingest.store.sources import uploads
from ingest.store.sources.upload_verdicts import FileVerdict, UploadedFile, UploadRequest
from ingest.worker.commit import Finished
from tests.support.fake_embedder import FakeEmbedder
from tests.support.job_runner import JobRunner
from tests.support.queue_builders import claim


class LineParser:
    """Makes each line a chunk. Counts its calls; raises the errors in `failures`, one per call."""

    def __init__(self) -> None:
        self.calls = 0
        self.failures: list[IngestError] = []
        self.coverage = Coverage(pages=1, with_text=1, empty=0)
        self.warnings: tuple[str, ...] = ()
        self.page_words: tuple[PageWords, ...] = ()

    async def parse(
        self,
        path: Path,
        request: ParseRequest,
        *,
        owner: UUID,
        on_page: Callable[[], None] | None = None,
    ) -> Parsed:
        self.calls += 1
        if self.failures:
            raise self.failures.pop(0)
        text = path.read_text()  # noqa: ASYNC240  # a few bytes
        chunks: list[Chunk] = []
        start = 0
        for line in text.splitlines():
            end = start + len(line)
            chunks.append(
                Chunk(
                    ordinal=len(chunks),
                    text=line,
                    token_count=3,
                    start=start,
                    end=end,
                    section=(0, len(text)),
                )
            )
            start = end + 1
        document = Document(
            text=text,
            media_type="text/plain",
            extractor="lines 1",
            coverage=self.coverage,
            warnings=self.warnings,
            page_words=self.page_words,
        )
        document, chunks = with_terms(document, chunks)
        return Parsed(document=document, chunks=chunks, extract_seconds=0.0, chunk_seconds=0.0)

    async def unpack(self, path: Path, request: UnpackRequest, *, owner: UUID) -> Unpacked:
        raise NotImplementedError

    async def rechunk(self, text: str, request: RechunkRequest, *, owner: UUID) -> Rechunked:
        raise NotImplementedError

    async def read_sitemap(self, path: Path, request: SitemapRequest, *, owner: UUID) -> Sitemap:
        raise NotImplementedError


class House(JobRunner):
    """The handler with its context, and shortcuts for tests."""

    handlers: Mapping[str, Handler] = MappingProxyType({"file": ingest_file})

    def __init__(self, pool: Pool, blobs: LocalBlobStore, model_id: int) -> None:
        self.pool = pool
        self.blobs = blobs
        self.parser = LineParser()
        self.embedder = FakeEmbedder()
        self.governor = Governor(pool)
        self.model_id = model_id

    @property
    def context(self) -> Context:
        return Context(
            pool=self.pool,
            blobs=self.blobs,
            parser=self.parser,
            embedder=EmbeddingService(self.embedder, self.governor, linger=timedelta(0)),
            governor=self.governor,
            model=self.embedder.model,
            model_id=self.model_id,
            chunking=ChunkSettings(tokenizer="cl100k_base", size=100, overlap=0),
            max_pages=10,
            web=cast(Web, None),  # uploaded files are not fetched
        )

    async def send(self, application_id: UUID, path: str, data: bytes) -> FileVerdict:
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

    async def upload(self, application_id: UUID, path: str, text: str) -> UUID:
        verdict = await self.send(application_id, path, text.encode())
        assert verdict.source_id is not None
        return verdict.source_id

    async def run(self) -> Finished:
        """Claim one job, run it and commit its outcome."""
        async with transaction(self.pool) as conn:
            [job] = await claim(conn)
        return await self.carry_out(job)

    async def carry_out(self, job: ClaimedJob) -> Finished:
        finished = await super().carry_out(job)
        assert finished is not None
        return finished
