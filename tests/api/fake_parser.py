"""Stand-ins for the parser processes of previews and of pages."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID

from ingest.model import Chunk, Document, Encoding, Sitemap
from ingest.page_words import Box
from ingest.sandbox.messages import (
    Located,
    LocateRequest,
    Parsed,
    ParseRequest,
    Rendered,
    RenderRequest,
    SitemapRequest,
)


class TextParser:
    """Reads files as text, and cuts them at their lines. Notes what it is asked for."""

    def __init__(self) -> None:
        self.requests: list[ParseRequest] = []
        self.paths: list[Path] = []
        self.failures: list[Exception] = []
        self.gate: asyncio.Event | None = None
        """If set, parsing waits until it opens."""
        self.ended = 0
        """Requests that were cancelled."""
        self.metadata: dict[str, Any] = {}
        self.is_closed = False

    async def parse(self, path: Path, request: ParseRequest, *, owner: UUID) -> Parsed:
        self.requests.append(request)
        self.paths.append(path)
        if self.gate is not None:
            try:
                await self.gate.wait()
            except asyncio.CancelledError:
                self.ended += 1
                raise
        if self.failures:
            raise self.failures.pop(0)
        text = path.read_text(errors="replace")  # noqa: ASYNC240  # a few bytes
        chunks = []
        position = 0
        for ordinal, line in enumerate(text.splitlines(keepends=True)):
            chunks.append(
                Chunk(
                    ordinal=ordinal,
                    text=line,
                    token_count=1,
                    start=position,
                    end=position + len(line),
                    section=(0, len(text)),
                )
            )
            position += len(line)
        document = Document(
            text=text,
            media_type="text/plain",
            extractor="lines 1",
            title=request.name,
            encoding=Encoding(name="utf-8", confidence=1.0),
            metadata=self.metadata,
        )
        return Parsed(document=document, chunks=chunks, extract_seconds=0.0, chunk_seconds=0.0)

    async def read_sitemap(self, path: Path, request: SitemapRequest, *, owner: UUID) -> Sitemap:
        """Takes each line for the address of a page."""
        return Sitemap(pages=tuple(path.read_text().split()))  # noqa: ASYNC240  # a few bytes

    async def close(self) -> None:
        self.is_closed = True


class FakePages:
    """Answers with pictures of one pixel, and notes what it is asked for."""

    def __init__(self) -> None:
        self.rendered: list[tuple[RenderRequest, UUID]] = []
        self.begun = asyncio.Semaphore(0)
        """Released by each drawing that begins."""
        self.located: list[LocateRequest] = []
        self.failures: list[Exception] = []
        self.gate: asyncio.Event | None = None
        """If set, drawing waits until it opens."""
        self.places: dict[str, tuple[Box, ...]] = {}
        """By the text of the range."""

    async def render(self, path: Path, request: RenderRequest, *, owner: UUID) -> Rendered:
        self.rendered.append((request, owner))
        self.begun.release()
        if self.gate is not None:
            await self.gate.wait()
        if self.failures:
            raise self.failures.pop(0)
        number = len(self.rendered)
        return Rendered(png=b"picture %d" % number, width=1, height=1)

    async def locate(self, path: Path, request: LocateRequest, *, owner: UUID) -> Located:
        self.located.append(request)
        texts = [request.text[start:end] for start, end in request.ranges]
        places = tuple(self.places.get(text, ()) for text in texts)
        return Located(width=600, height=800, places=places, has_words=bool(self.places))

    async def close(self) -> None: ...
