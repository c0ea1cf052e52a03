"""A parser without processes, for files of a few bytes."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

from ingest.chunking.chunk import chunk
from ingest.formats.archives.members import FolderSink
from ingest.formats.archives.unpack import unpack
from ingest.formats.registry import extract
from ingest.formats.xml.sitemap import read
from ingest.model import Chunk, ChunkSettings, Document, Sitemap
from ingest.sandbox.messages import (
    Parsed,
    ParseRequest,
    Rechunked,
    RechunkRequest,
    SitemapRequest,
    Unpacked,
    UnpackRequest,
)
from ingest.tokens.tokenizers import load_tokenizer
from ingest.web.furniture import without_furniture


class InProcessParser:
    """Parses in the test's own process. Records the names of the files it parsed."""

    def __init__(self) -> None:
        self.read: list[str] = []

    @property
    def calls(self) -> int:
        return len(self.read)

    async def parse(
        self,
        path: Path,
        request: ParseRequest,
        *,
        owner: UUID,
        on_page: Callable[[], None] | None = None,
    ) -> Parsed:
        self.read.append(request.name)
        sink = None
        if request.members is not None:
            sink = FolderSink(
                Path(request.members), max_members=100, max_bytes=2**30, max_member_bytes=2**30
            )
        with path.open("rb") as file:
            document = extract(
                file,
                name=request.name,
                declared=request.declared,
                max_pages=request.max_pages,
                url=request.url,
                members=sink,
                max_inflated=request.max_inflated,
            )
        document = without_furniture(document, dict(request.chunk.furniture), request.uri)
        return Parsed(
            document=document,
            chunks=_chunks(document, request.chunk),
            extract_seconds=0.0,
            chunk_seconds=0.0,
            members=() if sink is None else tuple(sink.members),
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
        document = Document(
            text=text, media_type="text/markdown", extractor="", pages=request.pages
        )
        return Rechunked(chunks=_chunks(document, request.chunk), language=None)

    async def read_sitemap(self, path: Path, request: SitemapRequest, *, owner: UUID) -> Sitemap:
        data = await asyncio.to_thread(path.read_bytes)
        return read(data, base=request.base, limit=request.limit)


def _chunks(document: Document, settings: ChunkSettings) -> list[Chunk]:
    return chunk(
        document,
        tokenizer=load_tokenizer(settings.tokenizer),
        size=settings.size,
        overlap=settings.overlap,
    )
