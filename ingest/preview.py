"""Preview a file: extract and chunk it as an upload would, without storing anything.

Used by the API, which does not parse in its own process. Like the worker's, these parsers run in
separate processes; there are few, since the user waits for the response.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final, Protocol
from uuid import UUID

from ingest import temporary_folders
from ingest.asynchronous.fair_slots import FairSlots, NoSlot
from ingest.errors import Permanent, Transient
from ingest.model import Chunk, ChunkSettings, Document, OcrSettings, Sitemap
from ingest.sandbox.messages import Parsed, ParseRequest, SitemapRequest

RESERVE: Final = 1
_PATIENCE: Final = timedelta(seconds=5)
_COME_AGAIN: Final = timedelta(seconds=10)
_LEFT_BEHIND: Final = timedelta(days=1)


class PreviewParser(Protocol):
    """Reads files that may be hostile (sandbox/pool.py)."""

    async def parse(self, path: Path, request: ParseRequest, *, owner: UUID) -> Parsed: ...

    async def read_sitemap(
        self, path: Path, request: SitemapRequest, *, owner: UUID
    ) -> Sitemap: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """A file as text and chunks."""

    document: Document
    chunks: Sequence[Chunk]


class Previews:
    """Makes up to `at_once` previews concurrently; `open_parser` is called for the first one.

    Beyond these, RESERVE is for an application without a preview while others hold all slots.

    timeout: wall-clock limit of a preview, independent of that of an upload.
    """

    def __init__(
        self,
        open_parser: Callable[[], PreviewParser],
        *,
        at_once: int,
        max_pages: int,
        timeout: timedelta,
        ocr: OcrSettings | None = None,
        patience: timedelta = _PATIENCE,
    ) -> None:
        self._open_parser = open_parser
        self._parser: PreviewParser | None = None
        self.max_pages = max_pages
        self._timeout = timeout
        self._ocr = ocr
        self._patience = patience
        self._slots = FairSlots[UUID](at_once, reserve=RESERVE)

    async def make(
        self, path: Path, *, owner: UUID, name: str, cut_by: ChunkSettings, ocr: bool
    ) -> Preview:
        """Preview a file of the application `owner`; `name` is untrusted.

        `ocr`: use OCR if it is configured.

        Raises Permanent with parser codes, IsArchive, and Transient `busy` if no slot becomes free
        in time.
        """
        try:
            async with self._slots.hold(owner, within=self._patience):
                parsed = await self._parse(path, owner=owner, name=name, cut_by=cut_by, ocr=ocr)
        except NoSlot:
            raise Transient(
                "too many previews are running; try again", code="busy", retry_after=_COME_AGAIN
            ) from None
        if not parsed.chunks:
            raise Permanent("the file has no text", code="no_text")
        return Preview(document=parsed.document, chunks=parsed.chunks)

    async def parser(self) -> PreviewParser:
        """The parser processes, which start with the first request."""
        if self._parser is None:
            self._parser = self._open_parser()
            # Leftovers of a killed process, on a machine where no worker cleans up.
            await asyncio.to_thread(temporary_folders.sweep, older_than=_LEFT_BEHIND)
        return self._parser

    async def close(self) -> None:
        """Stop the parser processes."""
        if self._parser is not None:
            await self._parser.close()

    async def _parse(
        self, path: Path, *, owner: UUID, name: str, cut_by: ChunkSettings, ocr: bool
    ) -> Parsed:
        request = ParseRequest(
            name=name,
            declared=None,
            max_pages=self.max_pages,
            chunk=cut_by,
            ocr=self._ocr if ocr else None,
        )
        try:
            async with asyncio.timeout(self._timeout.total_seconds()):
                parser = await self.parser()
                return await parser.parse(path, request, owner=owner)
        except TimeoutError:
            raise Permanent(
                f"A preview may take {self._timeout.total_seconds():g} s. Upload the file, or ask"
                " for a preview without recognising pictures.",
                code="parser_timeout",
            ) from None
