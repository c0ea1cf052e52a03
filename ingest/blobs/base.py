"""What the rest of the system knows of file bytes: keys, staged blobs and a store of them."""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from pathlib import Path
from typing import Protocol
from uuid import UUID, uuid4

_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_KEY = re.compile(f"{_UUID}/{_UUID}")


class StagedBlob(Protocol):
    """Bytes on their way in: written, finished, then committed or discarded.

    Its calls follow each other; none may overlap another of the same blob. Memory stays flat
    whatever the size. An error of an earlier call may be told by a later one, at the latest by the
    commit: Transient, with a message that says what is wrong with the disk or the bucket.
    """

    @property
    def key(self) -> str:
        """The key that the blob will have."""
        ...

    async def write(self, data: bytes) -> None:
        """Append `data`."""
        ...

    async def finish(self) -> None:
        """No more bytes will come: free the blob's memory, file descriptor or connection."""
        ...

    async def discard(self) -> None:
        """Leave nothing behind. Idempotent, allowed at any moment; no effect once committed."""
        ...


class BlobStore(Protocol):
    """Where file bytes are kept. A blob is immutable and either wholly there or not at all."""

    async def check(self) -> None:
        """Prove at start that blobs can be written; SetupError says what is wrong."""
        ...

    def stage(self, key: str) -> StagedBlob:
        """Begin a blob under a fresh key (`new_key`); ValueError for anything else."""
        ...

    async def commit(self, staged: Sequence[StagedBlob]) -> None:
        """Make the blobs durable under their keys. After an error, discard all of them."""
        ...

    def open_local(self, key: str) -> AbstractAsyncContextManager[Path]:
        """A local file with the bytes, to read only and only inside the context; BlobMissing."""
        ...

    async def delete(self, keys: Sequence[str]) -> None:
        """Remove blobs; absent ones are fine."""
        ...

    def list_keys(self, *, older_than: timedelta, prefix: str = "") -> AsyncIterator[str]:
        """Committed blobs of at least that age, in no order."""
        ...

    async def sweep_staged(self, *, older_than: timedelta) -> int:
        """Remove what killed processes left behind, and return how much that was.

        `older_than` must exceed the longest upload.
        """
        ...

    async def close(self) -> None:
        """End threads and connections; the store cannot be used any more."""
        ...


def new_key(application_id: UUID) -> str:
    """A fresh key: `<application>/<random>`. Names of uploads never get near a path."""
    return f"{application_id}/{uuid4()}"


def is_key(text: str) -> bool:
    """Whether `text` has the form of a key."""
    return _KEY.fullmatch(text) is not None


def checked(key: str) -> str:
    """`key` itself; ValueError for anything that is not of our making, such as `../x`."""
    if not is_key(key):
        raise ValueError(f"not a blob key: {key!r}")
    return key
