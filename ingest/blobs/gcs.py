"""Blobs as objects of a Google Cloud Storage bucket.

    PREFIX/<application>/<blob>             committed
           derived/<application>/<blob>     the same, of what can be made again
           staged/<application>/<blob>      being uploaded; leftovers are swept

Transfers are streamed: large uploads in chunks of a resumable upload, downloads to a file in the
scratch folder. The library is synchronous, so its calls run in a bounded thread pool.
"""

import os
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

from google.api_core.exceptions import NotFound
from google.cloud.storage import Bucket

from ingest.blobs.base import StagedBlob, checked, is_key
from ingest.blobs.disk import describe, disk_errors
from ingest.blobs.gcs_staged import (
    BUCKET_ERRORS,
    OPTIONS,
    ResumableUpload,
    bucket_errors,
    delete,
    one_line,
)
from ingest.blobs.staging import BufferedBlob, MemoryBudget
from ingest.blobs.threads import Threads
from ingest.errors import BlobMissing, SetupError

WORKERS = 32
"""Threads for concurrent calls, which mostly wait for the network."""
_BUFFER = 256 * 1024  # smaller blobs are one request
_PART = 1024 * 1024  # of a blob that is read in parts
_PAGE = 1000
_QUICK = {"timeout": (5, 10), "retry": None}
_STAGED = "staged/"


class GcsBlobStore:
    """A BlobStore in `bucket`, below `prefix` (empty, or ending in a slash)."""

    def __init__(self, bucket: Bucket, *, prefix: str, scratch: Path) -> None:
        self._bucket = bucket
        self._prefix = prefix
        self._scratch = scratch
        self._memory = MemoryBudget()
        self._threads = Threads(WORKERS)

    async def check(self) -> None:
        await self._threads.run(self._probe)

    def stage(self, key: str) -> StagedBlob:
        staged = self._prefix + _STAGED + checked(key)
        upload = ResumableUpload(self._bucket, staged, self._name(key))
        return BufferedBlob(
            key, upload, threads=self._threads, memory=self._memory, buffer_size=_BUFFER
        )

    async def commit(self, staged: Sequence[StagedBlob]) -> None:
        blobs: list[BufferedBlob[ResumableUpload]] = []
        for blob in staged:
            if not isinstance(blob, BufferedBlob):
                raise TypeError("this blob was staged by another store")
            await blob.finished()
            blobs.append(blob)
        await self._threads.run_all(partial(blob.sink.publish, blob.kept) for blob in blobs)
        await self._threads.run_all(blob.sink.unstage for blob in blobs)
        for blob in blobs:
            blob.committed()

    @asynccontextmanager
    async def open_local(self, key: str) -> AsyncIterator[Path]:
        copy = await self._threads.run(self._new_copy)
        try:
            await self._threads.run(self._download, key, copy)
            yield copy
        finally:
            await self._threads.run(copy.unlink, missing_ok=True)

    async def read(self, key: str, *, start: int, end: int) -> AsyncGenerator[bytes]:
        while start < end:
            block = await self._threads.run(self._part, key, start, min(start + _PART, end))
            if not block:
                return
            start += len(block)
            yield block

    async def delete(self, keys: Sequence[str]) -> None:
        names = [self._name(key) for key in keys]
        await self._threads.run_all(partial(self._remove, name) for name in names)

    async def list_keys(self, *, older_than: timedelta, prefix: str = "") -> AsyncIterator[str]:
        before = datetime.now(UTC) - older_than
        async for objects in self._pages(self._prefix + prefix):
            for found in objects:
                key = found.name.removeprefix(self._prefix)
                if is_key(key) and found.time_created <= before:
                    yield key

    async def sweep_staged(self, *, older_than: timedelta) -> int:
        before = datetime.now(UTC) - older_than
        swept = await self._threads.run(self._sweep_copies, before.timestamp())
        async for objects in self._pages(self._prefix + _STAGED):
            old = [found.name for found in objects if found.time_created <= before]
            await self._threads.run_all(partial(self._remove, name) for name in old)
            swept += len(old)
        return swept

    async def close(self) -> None:
        await self._threads.close()
        self._bucket.client.close()

    def _name(self, key: str) -> str:
        return self._prefix + checked(key)

    def _remove(self, name: str) -> None:
        with bucket_errors(self._bucket):
            delete(self._bucket, name)

    def _probe(self) -> None:
        """Write, list and delete without retries: a start should fail fast."""
        probe = self._bucket.blob(f"{self._prefix}{_STAGED}check-{uuid4()}")
        try:
            probe.upload_from_string(b"", **_QUICK)
            list(self._bucket.list_blobs(prefix=probe.name, **_QUICK))
            probe.delete(**_QUICK)
            self._scratch.mkdir(parents=True, exist_ok=True)
        except BUCKET_ERRORS as error:
            raise SetupError(
                f"INGEST_STORAGE: bucket {self._bucket.name}: {one_line(error)}"
            ) from error
        except OSError as error:
            raise SetupError(f"INGEST_DATA_DIR: {describe(error, self._scratch)}") from error

    def _new_copy(self) -> Path:
        with disk_errors(self._scratch):
            self._scratch.mkdir(parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(dir=self._scratch)
            os.close(descriptor)
        return Path(name)

    def _download(self, key: str, copy: Path) -> None:
        blob = self._bucket.blob(self._name(key))
        # Errors of `requests` are OSErrors too, so bucket_errors must be the inner context.
        with disk_errors(self._scratch), bucket_errors(self._bucket), copy.open("wb") as file:
            try:
                blob.download_to_file(file, raw_download=True, **OPTIONS)
            except NotFound as error:
                raise BlobMissing(key) from error

    def _part(self, key: str, start: int, end: int) -> bytes:
        """Bytes of the object, in one request."""
        blob = self._bucket.blob(self._name(key))
        with bucket_errors(self._bucket):
            try:
                part = blob.download_as_bytes(
                    start=start, end=end - 1, raw_download=True, **OPTIONS
                )
            except NotFound as error:
                raise BlobMissing(key) from error
        return bytes(part)

    async def _pages(self, prefix: str) -> AsyncIterator[list[Any]]:
        """All objects below `prefix`, page by page."""
        listed = self._bucket.list_blobs(
            prefix=prefix,
            page_size=_PAGE,
            fields="items(name,timeCreated),nextPageToken",
            **OPTIONS,
        )
        pages = iter(listed.pages)
        while (page := await self._threads.run(self._next_page, pages)) is not None:
            yield page

    def _next_page(self, pages: Any) -> list[Any] | None:
        with bucket_errors(self._bucket):
            page = next(pages, None)
        return None if page is None else list(page)

    def _sweep_copies(self, before: float) -> int:
        """Remove downloads left by killed processes."""
        swept = 0
        with disk_errors(self._scratch):
            for copy in self._scratch.glob("*"):
                with suppress(FileNotFoundError):  # its reader removed it meanwhile
                    if copy.stat().st_mtime <= before:
                        copy.unlink()
                        swept += 1
        return swept
