"""The file and rechunk handlers on a real database, with a parser that chunks by counting words."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any
from uuid import UUID

from ingest.blobs.local import LocalBlobStore
from ingest.errors import IngestError
from ingest.handlers.documents.chunk_settings import chunking_defaults
from ingest.handlers.documents.file import ingest_file
from ingest.handlers.documents.rechunk import rechunk_source
from ingest.model import Chunk, ChunkSettings, Page, Sitemap
from ingest.postgres.database import Connection, Pool, transaction
from ingest.sandbox.messages import Parsed, ParseRequest, Rechunked, RechunkRequest, SitemapRequest
from ingest.store.documents import chunking
from ingest.store.documents.chunking import ChunkingOverrides
from ingest.store.embeddings import embedding_models
from ingest.store.queue.jobs import ClaimedJob
from ingest.store.tenants import applications
from ingest.worker.commit import Finished
from tests.support.fake_embedder import FakeEmbedder
from tests.support.file_fixtures import House, LineParser
from tests.support.queue_builders import claim


def cut(text: str, settings: ChunkSettings, pages: tuple[Page, ...] = ()) -> list[Chunk]:
    """Chunks of `settings.size` words; shorter at the end of a page if chunked by page."""
    ranges = [(page.start, page.end) for page in pages] if settings.by == "page" else []
    chunks: list[Chunk] = []
    for begin, end in ranges or [(0, len(text))]:
        words = text[begin:end].split(" ")
        start = begin
        for first in range(0, len(words), settings.size):
            piece = " ".join(words[first : first + settings.size])
            chunks.append(
                Chunk(
                    ordinal=len(chunks),
                    text=piece,
                    token_count=piece.count(" ") + 1,
                    start=start,
                    end=start + len(piece),
                    section=(begin, end),
                )
            )
            start += len(piece) + 1
    return chunks


class WordParser(LineParser):
    """Counts words as tokens. Records rechunked texts; `on_rechunk` may raise or write rows."""

    def __init__(self) -> None:
        super().__init__()
        self.recut: list[str] = []
        self.on_rechunk: Callable[[str], Any] | None = None

    async def parse(
        self,
        path: Path,
        request: ParseRequest,
        *,
        owner: UUID,
        on_page: Callable[[], None] | None = None,
    ) -> Parsed:
        parsed = await super().parse(path, request, owner=owner)
        return replace(parsed, chunks=cut(parsed.document.text, request.chunk))

    async def rechunk(self, text: str, request: RechunkRequest, *, owner: UUID) -> Rechunked:
        self.recut.append(text)
        if self.on_rechunk is not None:
            answer = self.on_rechunk(text)
            if isinstance(answer, IngestError):
                raise answer
            if answer is not None:
                await answer
        return Rechunked(chunks=cut(text, request.chunk, request.pages), language=None)

    async def read_sitemap(self, path: Path, request: SitemapRequest, *, owner: UUID) -> Sitemap:
        raise NotImplementedError


class RechunkHouse(House):
    """The file and rechunk handlers with their context."""

    handlers = MappingProxyType({"file": ingest_file, "rechunk": rechunk_source})

    def __init__(self, pool: Pool, blobs: LocalBlobStore, model_id: int) -> None:
        super().__init__(pool, blobs, model_id)
        self.parser: WordParser = WordParser()

    async def add(self, application_id: UUID, path: str, words: int) -> UUID:
        """Upload a file of `words` words, different each time, stored with the default settings."""
        stem = path.partition(".")[0]
        text = " ".join(f"{stem}{number}" for number in range(words))
        source_id = await self.upload(application_id, path, text)
        await self.run()
        return source_id

    async def take(self, type: str = "rechunk") -> ClaimedJob:
        async with transaction(self.pool) as conn:
            [job] = await claim(conn, types=[type])
        return job

    async def rechunk(self) -> Finished:
        """Claim one rechunk job, run it and commit its outcome."""
        return await self.carry_out(await self.take())

    async def set_of_source(self, application_id: UUID, source_id: UUID, **own: Any) -> None:
        async with transaction(self.pool) as conn:
            await applications.lock_sources(conn, application_id)
            settings = await applications.settings_of(conn, application_id)
            await chunking.set_for_sources(
                conn,
                application_id=application_id,
                source_ids=[source_id],
                own=ChunkingOverrides(**own),
                application=settings.chunking,
                defaults=chunking_defaults(self.context),
            )

    async def set_of_application(self, application_id: UUID, **own: Any) -> None:
        async with transaction(self.pool) as conn:
            await self.change_application(conn, application_id, **own)

    async def change_application(self, conn: Connection, application_id: UUID, **own: Any) -> None:
        await applications.lock_sources(conn, application_id)
        await chunking.lock_application(conn, application_id)
        choice = ChunkingOverrides(**own)
        await applications.edit(
            conn, application_id, name=None, settings={"chunking": choice.to_json()}
        )
        await chunking.rechunk_application(
            conn, application_id, choice, chunking_defaults(self.context)
        )


@asynccontextmanager
async def rechunk_house(pool: Pool, folder: Path) -> AsyncIterator[RechunkHouse]:
    blobs = LocalBlobStore(folder / "blobs")
    async with pool.session() as conn, conn.transaction():
        model_id = await embedding_models.register(conn, FakeEmbedder().model)
    yield RechunkHouse(pool, blobs, model_id)
    await blobs.close()


async def rows(conn: Connection, query: Any, *values: Any) -> list[Any]:
    return await (await conn.execute(query, values)).fetchall()


async def sizes(conn: Connection, source_id: UUID) -> list[int]:
    """Number of words in each chunk of a source, in order."""
    found = await rows(
        conn,
        "select token_count from rag.chunks where source_id = %s order by document_id, ordinal",
        source_id,
    )
    return [size for (size,) in found]


async def queued(conn: Connection) -> list[UUID]:
    """Sources with a pending rechunk job."""
    found = await rows(
        conn,
        "select knowledge_source_id from rag.processing_jobs "
        "where type = 'rechunk' and status = 'pending' order by position",
    )
    return [id for (id,) in found]


async def add_document(conn: Connection, source_id: UUID, uri: str, like: str = "a.txt") -> None:
    """Add a document with the source's text, but without chunks."""
    await conn.execute(
        "insert into rag.documents (id, application_id, source_id, uri, media_type, status, "
        "content_hash, text, extractor, coverage, chunk_count, token_count, pages, chunking, "
        "embedding_model_id) "
        "select gen_random_uuid(), application_id, source_id, %s, media_type, status, "
        "content_hash, text, extractor, coverage, 0, 0, pages, chunking, embedding_model_id "
        "from rag.documents where source_id = %s and uri = %s",
        [uri, source_id, like],
    )
