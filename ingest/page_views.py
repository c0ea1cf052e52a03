"""Pictures of pages, and where chunks stand on them.

Files are untrusted, so both are made in parser processes. Those who ask wait for that: few pages
are drawn at once, shared fairly among applications, and a picture is kept in the blob store.
Whoever calls this has checked that the caller may see the document.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar
from uuid import UUID

import psycopg
import structlog

from ingest.asynchronous.fair_slots import FairSlots, NoSlot
from ingest.blobs.base import BlobStore, new_derived_key
from ingest.errors import BlobMissing, Transient
from ingest.formats import catalog
from ingest.postgres.database import Pool, transaction
from ingest.sandbox.messages import Located, LocateRequest, Rendered, RenderRequest
from ingest.store.pages import page_images
from ingest.store.pages.page_images import ImageKey

log = structlog.get_logger()
T = TypeVar("T")

RESERVE: Final = 1
_MOST_WAITING: Final = 64  # pages of an application; more are refused at once
_PATIENCE: Final = timedelta(seconds=15)
_COME_AGAIN: Final = timedelta(seconds=2)
WIDTHS: Final = (160, 640, 1280, 1920, 2560)
"""Pixels of pictures. Others are rounded up to one of them, so that few are made of a page."""


class PageParser(Protocol):
    """Reads files that may be hostile (sandbox/pool.py)."""

    async def render(self, path: Path, request: RenderRequest, *, owner: UUID) -> Rendered: ...

    async def locate(self, path: Path, request: LocateRequest, *, owner: UUID) -> Located: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFile:
    """The file of a document, and whose it is."""

    application_id: UUID
    document_id: UUID
    media_type: str
    content_hash: bytes
    blob_key: str


def has_images(media_type: str) -> bool:
    """Whether pages of such files can be drawn."""
    found = catalog.find(media_type)
    return found is not None and found.viewer is not None


def rounded(width: int) -> int:
    """The width that is drawn when this one is asked for."""
    return next((known for known in WIDTHS if known >= width), WIDTHS[-1])


class PageViews:
    """Draws pages, `at_once` of them; `open_parser` is called for the first one.

    keep: whether pictures are kept in `blobs`.
    """

    def __init__(
        self,
        open_parser: Callable[[], PageParser],
        *,
        pool: Pool,
        blobs: BlobStore,
        at_once: int,
        keep: bool,
        patience: timedelta = _PATIENCE,
    ) -> None:
        self._open_parser = open_parser
        self._parser: PageParser | None = None
        self._pool = pool
        self._blobs = blobs
        self._keep_images = keep
        self._patience = patience
        self._slots = FairSlots[UUID](at_once, reserve=RESERVE)
        self._running: dict[Hashable, asyncio.Task[Any]] = {}

    async def image(self, file: PageFile, page: int, width: int) -> bytes:
        """A PNG of the page (1-based), of one of WIDTHS.

        Raises Permanent with parser codes, BlobMissing, and Transient `busy`.
        """
        key = ImageKey(
            document_id=file.document_id, page=page, width=width, content_hash=file.content_hash
        )
        kept = await self._kept(file, key)
        if kept is not None:
            return kept
        return await self._once(key, lambda: self._draw(file, key))

    async def locate(
        self,
        file: PageFile,
        page: int,
        *,
        text: str,
        ranges: Sequence[tuple[int, int]],
        words: bytes | None,
    ) -> Located:
        """Where ranges of the page's text stand on it; raises as `image`.

        words: those of a page read by OCR (page_words.py); None: it has a text layer.
        """
        request = LocateRequest(
            media_type=file.media_type, page=page, text=text, ranges=tuple(ranges), words=words
        )
        key = (file.document_id, file.content_hash, request)
        return await self._once(key, lambda: self._locate(file, request))

    async def close(self) -> None:
        """Stop drawing, and the parser processes."""
        running = list(self._running.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        if self._parser is not None:
            await self._parser.close()

    async def _once(self, key: Hashable, make: Callable[[], Awaitable[T]]) -> T:
        """Those who ask for the same at the same time share one answer.

        It goes on if they leave: whoever asked is about to ask again.
        """
        task = self._running.get(key)
        if task is None:
            task = asyncio.ensure_future(make())
            self._running[key] = task
            task.add_done_callback(lambda done: self._end(key, done))
        result: T = await asyncio.shield(task)
        return result

    def _end(self, key: Hashable, task: asyncio.Task[Any]) -> None:
        del self._running[key]
        if not task.cancelled():
            task.exception()  # those who asked may have left

    async def _draw(self, file: PageFile, key: ImageKey) -> bytes:
        request = RenderRequest(media_type=file.media_type, page=key.page, width=key.width)
        drawn = await self._run(file, lambda parser, path: parser.render(
            path, request, owner=file.application_id
        ))  # fmt: skip
        if self._keep_images:
            try:
                await self._keep(file, key, drawn.png)
            except (Transient, psycopg.Error) as error:  # a full disk, or no database
                log.warning("page_image.not_kept", error=str(error))
        return drawn.png

    async def _locate(self, file: PageFile, request: LocateRequest) -> Located:
        return await self._run(file, lambda parser, path: parser.locate(
            path, request, owner=file.application_id
        ))  # fmt: skip

    async def _run(self, file: PageFile, ask: Callable[[PageParser, Path], Awaitable[T]]) -> T:
        if self._slots.waiting(file.application_id) >= _MOST_WAITING:
            raise _busy()
        try:
            async with self._slots.hold(file.application_id, within=self._patience):
                if self._parser is None:
                    self._parser = self._open_parser()
                async with self._blobs.open_local(file.blob_key) as path:
                    return await ask(self._parser, path)
        except NoSlot:
            raise _busy() from None

    async def _kept(self, file: PageFile, key: ImageKey) -> bytes | None:
        if not self._keep_images:
            return None
        # Not the caller's pool: a key that is limited to collections may not note the use.
        async with transaction(self._pool.of(file.application_id)) as conn:
            kept = await page_images.find(conn, key)
        if kept is None:
            return None
        try:
            async with aclosing(
                self._blobs.read(kept.blob_key, start=0, end=kept.size_bytes)
            ) as blob:
                png = b"".join([block async for block in blob])
        except BlobMissing:  # evicted meanwhile
            return None
        return png if len(png) == kept.size_bytes else None

    async def _keep(self, file: PageFile, key: ImageKey, png: bytes) -> None:
        staged = self._blobs.stage(new_derived_key(file.application_id))
        try:
            await staged.write(png)
            await self._blobs.commit([staged])
        except BaseException:
            await staged.discard()
            raise
        async with transaction(self._pool.of(file.application_id)) as conn:
            unused = await page_images.put(
                conn,
                key,
                application_id=file.application_id,
                blob_key=staged.key,
                size_bytes=len(png),
            )
        await self._blobs.delete(unused)


def _busy() -> Transient:
    return Transient(
        "too many pages are being drawn; try again", code="busy", retry_after=_COME_AGAIN
    )
