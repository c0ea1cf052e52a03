"""Blobs as files of a local folder.

    FOLDER/<application>/<blob>      committed: complete, synced, never changed
           derived/<application>/<blob>    the same, of what can be made again
           .staged/<application>.<blob>     being uploaded; leftovers are swept

A kill at any time leaves at most a file in `.staged`. A full disk or a folder that cannot be
written raises Transient with a message that says so.
"""

import os
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

from ingest.blobs.base import DERIVED, StagedBlob, checked, is_key
from ingest.blobs.disk import describe, disk_errors
from ingest.blobs.staging import BufferedBlob, MemoryBudget
from ingest.blobs.threads import Threads
from ingest.errors import BlobMissing, SetupError

T = TypeVar("T")

_BUFFER = 256 * 1024
_SLICE = 64  # blobs per call in a thread: few thread switches, yet all threads are busy
_LISTED = 1000
_READ = os.O_RDONLY | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
# Threads mostly wait for the disk, without the GIL; concurrent fsyncs share one journal commit.
_WORKERS = 16


class _File:
    """One staged file: opened at its first write, closed after its last."""

    def __init__(self, staged: Path, final: Path, folder: Path) -> None:
        self.staged = staged
        self.final = final
        self._folder = folder
        self._descriptor: int | None = None

    def append(self, data: bytes) -> None:
        with disk_errors(self._folder):
            view = memoryview(data)
            while view:
                view = view[os.write(self._open(), view) :]

    def finish(self, data: bytes) -> None:
        with disk_errors(self._folder):
            self._open()
        self.append(data)
        self._close()

    def sync(self) -> None:
        """Make the content durable before the rename: a key never names an incomplete file."""
        descriptor = os.open(self.staged, _READ)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def publish(self) -> None:
        self.staged.rename(self.final)

    def discard(self) -> None:
        self._close()
        with disk_errors(self._folder):
            self.staged.unlink(missing_ok=True)
            self.final.unlink(missing_ok=True)

    def _open(self) -> int:
        if self._descriptor is None:
            try:
                self._descriptor = os.open(self.staged, _CREATE, 0o600)
            except FileNotFoundError:
                self.staged.parent.mkdir(parents=True, exist_ok=True)
                self._descriptor = os.open(self.staged, _CREATE, 0o600)
        return self._descriptor

    def _close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


class LocalBlobStore:
    """A BlobStore in `folder`, which is created when first needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._staging = folder / ".staged"
        self._threads = Threads(_WORKERS)
        self._naming = threading.Lock()
        self._memory = MemoryBudget()

    async def check(self) -> None:
        await self._threads.run(self._probe)

    def stage(self, key: str) -> StagedBlob:
        staged = self._staging / checked(key).replace("/", ".")
        file = _File(staged, self._path(key), self._folder)
        return BufferedBlob(
            key, file, threads=self._threads, memory=self._memory, buffer_size=_BUFFER
        )

    async def commit(self, staged: Sequence[StagedBlob]) -> None:
        blobs: list[BufferedBlob[_File]] = []
        for blob in staged:
            if not isinstance(blob, BufferedBlob):
                raise TypeError("this blob was staged by another store")
            await blob.finished()
            blobs.append(blob)
        folders = {blob.sink.final.parent for blob in blobs}
        await self._threads.run(self._make, folders)
        await self._threads.run_all(partial(self._publish, part) for part in _sliced(blobs))
        await self._threads.run(self._sync, {*folders, self._folder})
        for blob in blobs:
            blob.committed()

    @asynccontextmanager
    async def open_local(self, key: str) -> AsyncIterator[Path]:
        path = self._path(key)
        if not await self._threads.run(path.is_file):
            raise BlobMissing(key)
        yield path

    async def read(self, key: str, *, start: int, end: int) -> AsyncGenerator[bytes]:
        try:
            descriptor = await self._threads.run(os.open, self._path(key), _READ)
        except FileNotFoundError:
            raise BlobMissing(key) from None
        try:
            while start < end:
                size = min(_BUFFER, end - start)
                if not (block := await self._threads.run(os.pread, descriptor, size, start)):
                    return
                start += len(block)
                yield block
        finally:
            os.close(descriptor)

    async def delete(self, keys: Sequence[str]) -> None:
        paths = [self._path(key) for key in keys]
        await self._threads.run_all(partial(self._unlink, part) for part in _sliced(paths))

    async def list_keys(self, *, older_than: timedelta, prefix: str = "") -> AsyncIterator[str]:
        before = time.time() - older_than.total_seconds()
        for parent in ("", DERIVED):
            for application in await self._threads.run(self._entries, self._folder / parent):
                folder = f"{parent}{application.name}/"
                if not _may_hold(application, folder, prefix):
                    continue
                with await self._threads.run(os.scandir, application.path) as entries:
                    # Read a large folder in parts, so that memory stays bounded.
                    while part := await self._threads.run(list, islice(entries, _LISTED)):
                        for key in await self._threads.run(_keys, folder, part, before):
                            if key.startswith(prefix):
                                yield key

    async def sweep_staged(self, *, older_than: timedelta) -> int:
        before = time.time() - older_than.total_seconds()
        return await self._threads.run(self._sweep, before)

    async def close(self) -> None:
        await self._threads.close()

    def _path(self, key: str) -> Path:
        return self._folder / checked(key)

    def _probe(self) -> None:
        probe = self._staging / f"check.{uuid4()}"
        try:
            self._staging.mkdir(parents=True, exist_ok=True)
            probe.write_bytes(b"x")
            probe.unlink()
        except OSError as error:
            raise SetupError(f"INGEST_STORAGE: {describe(error, self._folder)}") from error

    def _make(self, folders: Iterable[Path]) -> None:
        with disk_errors(self._folder):
            for folder in folders:
                folder.mkdir(parents=True, exist_ok=True)

    def _publish(self, blobs: Sequence[BufferedBlob[_File]]) -> None:
        with disk_errors(self._folder):
            # One thread at a time: those that wait for the kernel's lock of a folder spin, at up to
            # as much processor time again as all of the work.
            with self._naming:
                for blob in blobs:
                    if blob.kept is not None:
                        blob.sink.finish(blob.kept)
            for blob in blobs:
                blob.sink.sync()
            with self._naming:
                for blob in blobs:
                    blob.sink.publish()

    def _sync(self, folders: Iterable[Path]) -> None:
        """Make the new names durable, with one sync per folder instead of one per file."""
        with disk_errors(self._folder):
            for folder in folders:
                descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)

    def _unlink(self, paths: Iterable[Path]) -> None:
        with disk_errors(self._folder):
            for path in paths:
                path.unlink(missing_ok=True)

    def _entries(self, folder: Path) -> list[os.DirEntry[str]]:
        with disk_errors(self._folder):
            try:
                with os.scandir(folder) as entries:
                    return list(entries)
            except FileNotFoundError:
                return []

    def _sweep(self, before: float) -> int:
        old = [Path(entry) for entry in self._entries(self._staging) if _is_older(entry, before)]
        self._unlink(old)
        return len(old)


def _sliced(items: Sequence[T]) -> Iterable[Sequence[T]]:
    return (items[start : start + _SLICE] for start in range(0, len(items), _SLICE))


def _may_hold(application: os.DirEntry[str], folder: str, prefix: str) -> bool:
    fits = folder.startswith(prefix) or prefix.startswith(folder)
    is_other = application.name.startswith(".") or folder == DERIVED
    return fits and not is_other and application.is_dir()


def _keys(folder: str, entries: Iterable[os.DirEntry[str]], before: float) -> list[str]:
    named = ((f"{folder}{entry.name}", entry) for entry in entries)
    return [key for key, entry in named if is_key(key) and _is_older(entry, before)]


def _is_older(entry: os.DirEntry[str], before: float) -> bool:
    try:
        return entry.stat(follow_symlinks=False).st_mtime <= before
    except FileNotFoundError:  # swept or deleted meanwhile
        return False
