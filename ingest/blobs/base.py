"""The interface of blob stores: keys, staged blobs and the store."""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from pathlib import Path
from typing import Protocol
from uuid import UUID, uuid4

_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
DERIVED = "derived/"
"""Prefix of keys of what can be made again from other blobs."""
_KEY = re.compile(f"(?:{DERIVED})?{_UUID}/{_UUID}")


class StagedBlob(Protocol):
    """A blob being uploaded: written, finished, then committed or discarded.

    Calls for one blob must not overlap. Memory stays flat for any size. An error may be raised by a
    later call than the one that caused it, at the latest by the commit: Transient, with a message
    that says what is wrong with the disk or the bucket.
    """

    @property
    def key(self) -> str:
        """The key that the blob will have."""
        ...

    async def write(self, data: bytes) -> None:
        """Append `data`."""
        ...

    async def finish(self) -> None:
        """End the upload: free the blob's memory, file descriptor or connection."""
        ...

    async def discard(self) -> None:
        """Remove all its bytes. Idempotent, allowed at any time; no effect once committed."""
        ...


class BlobStore(Protocol):
    """Stores the bytes of files. A blob is immutable, and either complete or absent."""

    async def check(self) -> None:
        """Test at start that blobs can be written; raises SetupError with the cause otherwise."""
        ...

    def stage(self, key: str) -> StagedBlob:
        """Start a blob under a fresh key (`new_key`). Raises ValueError for an invalid key."""
        ...

    async def commit(self, staged: Sequence[StagedBlob]) -> None:
        """Make the blobs durable under their keys. After an error, discard all of them."""
        ...

    def open_local(self, key: str) -> AbstractAsyncContextManager[Path]:
        """A local file with the bytes, read-only, valid inside the context; or BlobMissing."""
        ...

    def read(self, key: str, *, start: int, end: int) -> AsyncGenerator[bytes]:
        """The bytes from `start` to before `end`, in blocks; the first raises BlobMissing."""
        ...

    async def delete(self, keys: Sequence[str]) -> None:
        """Remove blobs; absent ones are fine."""
        ...

    def list_keys(self, *, older_than: timedelta, prefix: str = "") -> AsyncIterator[str]:
        """Keys of committed blobs of at least this age, in no particular order."""
        ...

    async def sweep_staged(self, *, older_than: timedelta) -> int:
        """Remove leftovers of killed processes, and return their number.

        `older_than` must exceed the longest upload.
        """
        ...

    async def close(self) -> None:
        """Close threads and connections; the store cannot be used afterwards."""
        ...


def new_key(application_id: UUID) -> str:
    """A fresh key: `<application>/<random>`. File names of uploads never become part of a path."""
    return f"{application_id}/{uuid4()}"


def new_derived_key(application_id: UUID) -> str:
    """A fresh key for what can be made again."""
    return DERIVED + new_key(application_id)


def is_key(text: str) -> bool:
    """Whether `text` has the form of a key."""
    return _KEY.fullmatch(text) is not None


def checked(key: str) -> str:
    """Return `key`; raises ValueError if it does not have the form of a key, such as `../x`."""
    if not is_key(key):
        raise ValueError(f"not a blob key: {key!r}")
    return key
