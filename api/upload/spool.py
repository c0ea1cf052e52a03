"""An incoming body of unknown size: kept in memory while it is small, else written to a blob."""

import hashlib
from types import TracebackType
from typing import Final, Self
from uuid import UUID

import structlog

from ingest.blobs.base import BlobStore, StagedBlob, new_key

log = structlog.get_logger()

_MAX_MEMORY_BYTES: Final = 256 * 1024
# The application is not known before the body is read.
_NO_APPLICATION: Final = UUID(int=0)


class Spool:
    """Takes the bytes of one body.

    A context manager: on exit it removes the blob, unless `keep` was called.
    """

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs
        self._parts: list[bytes] = []
        self._staged: StagedBlob | None = None
        self._digest = hashlib.sha256()
        self._is_committed = False
        self._is_kept = False
        self.size = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._staged is None or self._is_kept:
            return
        try:
            if self._is_committed:
                await self._blobs.delete([self._staged.key])
            else:
                await self._staged.discard()
        except Exception as failure:
            # The orphan sweep removes it.
            log.warning("webhook.blob_not_removed", error=str(failure))

    async def write(self, data: bytes) -> None:
        """Append bytes. Raises Transient when they cannot be stored."""
        self.size += len(data)
        self._digest.update(data)
        if self._staged is not None:
            await self._staged.write(data)
            return
        self._parts.append(data)
        if self.size > _MAX_MEMORY_BYTES:
            self._staged = self._blobs.stage(new_key(_NO_APPLICATION))
            await self._staged.write(b"".join(self._parts))
            self._parts.clear()

    async def commit(self) -> None:
        """Make the bytes durable if they are in a blob."""
        if self._staged is not None:
            await self._staged.finish()
            await self._blobs.commit([self._staged])
            self._is_committed = True

    def keep(self) -> None:
        """Do not remove the blob on exit. Call this before committing a row that refers to it.

        If the outcome of the commit is unknown, the sweep removes an orphan later; a row without
        its bytes could not be repaired.
        """
        self._is_kept = True

    @property
    def body(self) -> bytes | None:
        """The bytes of a small body; None if they are in a blob."""
        return b"".join(self._parts) if self._staged is None else None

    @property
    def blob_key(self) -> str | None:
        """The blob of a large body."""
        return None if self._staged is None else self._staged.key

    @property
    def sha256(self) -> bytes:
        return self._digest.digest()
