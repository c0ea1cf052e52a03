"""What every blob store promises, on a real folder and on a bucket of the emulator."""

import asyncio
import hashlib
import os
import resource
import sys
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from ingest.blobs.base import BlobStore, new_key
from ingest.errors import BlobMissing
from ingest.settings.settings import Settings
from tests.db.documents.blobs.conftest import MIB, NOW, listed, stage, stage_stored

_ID = UUID("7f3e8651-da7c-44e9-8135-1e4559e15f37")


async def put(store: BlobStore, application: UUID, *parts: bytes) -> str:
    blob = await stage(store, application, *parts)
    await store.commit([blob])
    return blob.key


async def read(store: BlobStore, key: str) -> bytes:
    async with store.open_local(key) as path:
        return await asyncio.to_thread(path.read_bytes)


@pytest.mark.parametrize("size", [0, 1, 256 * 1024, 9 * MIB + 1])
async def test_a_committed_blob_has_the_bytes_that_were_written(
    store: BlobStore, application: UUID, size: int
) -> None:
    content = os.urandom(size)
    parts = [content[start : start + 100_000] for start in range(0, size, 100_000)]
    key = await put(store, application, *parts)
    got = await read(store, key)

    assert hashlib.sha256(got).digest() == hashlib.sha256(content).digest()
    assert await listed(store) == {key}


async def test_a_blob_that_was_not_finished_is_finished_by_its_commit(
    store: BlobStore, application: UUID
) -> None:
    blob = store.stage(new_key(application))
    await blob.write(b"abc")
    await store.commit([blob])

    assert await read(store, blob.key) == b"abc"


async def test_many_blobs_are_committed_together(store: BlobStore, application: UUID) -> None:
    """More of them than may be kept in memory until the commit."""
    contents = [os.urandom(200 * 1024) for _ in range(180)]
    blobs = [await stage(store, application, content) for content in contents]
    await store.commit(blobs)

    assert await listed(store) == {blob.key for blob in blobs}
    assert await read(store, blobs[0].key) == contents[0]
    assert await read(store, blobs[-1].key) == contents[-1]
    assert await store.sweep_staged(older_than=NOW) == 0


async def test_a_staged_blob_is_neither_listed_nor_readable(
    store: BlobStore, application: UUID
) -> None:
    small = await stage(store, application, b"abc")
    stored = await stage_stored(store, application)
    large = store.stage(new_key(application))
    await large.write(os.urandom(9 * MIB))

    assert await listed(store) == set()
    for blob in (small, stored, large):
        with pytest.raises(BlobMissing):
            await read(store, blob.key)
        await blob.discard()


@pytest.mark.parametrize("finished", [True, False])
@pytest.mark.parametrize("size", [0, 10, 9 * MIB])
async def test_a_discarded_blob_leaves_nothing_behind(
    store: BlobStore, application: UUID, size: int, finished: bool
) -> None:
    blob = store.stage(new_key(application))
    await blob.write(os.urandom(size))
    if finished:
        await blob.finish()
    await blob.discard()
    await blob.discard()

    assert await store.sweep_staged(older_than=NOW) == 0
    assert await listed(store) == set()


async def test_discarding_a_committed_blob_has_no_effect(
    store: BlobStore, application: UUID
) -> None:
    blob = await stage(store, application, b"kept")
    await store.commit([blob])
    await blob.discard()

    assert await read(store, blob.key) == b"kept"


async def test_missing_blob_raises_its_own_error(store: BlobStore, application: UUID) -> None:
    key = new_key(application)
    with pytest.raises(BlobMissing, match=key):
        await read(store, key)


async def test_deleting_ignores_missing_blobs(store: BlobStore, application: UUID) -> None:
    gone = await put(store, application, b"gone")
    kept = await put(store, application, b"kept")
    await store.delete([gone, new_key(application)])
    await store.delete([gone])

    assert await listed(store) == {kept}


async def test_keys_are_listed_by_application_and_age(store: BlobStore) -> None:
    ours, theirs = uuid4(), uuid4()
    mine = await put(store, ours, b"1")
    other = await put(store, theirs, b"2")

    assert await listed(store) == {mine, other}
    assert await listed(store, prefix=f"{ours}/") == {mine}
    assert await listed(store, prefix=mine) == {mine}
    assert await listed(store, older_than=timedelta(hours=1)) == set()


@pytest.mark.parametrize(
    "key",
    [
        "",
        "../etc/passwd",
        "/etc/passwd",
        "plain",
        f"{_ID}",
        f"{_ID}/../{_ID}",
        f"{_ID}/{_ID}\n",
        f"{_ID}/{_ID}/x",
        f"{_ID}/{_ID}".upper(),
    ],
)
async def test_foreign_blob_key_is_refused(store: BlobStore, key: str) -> None:
    with pytest.raises(ValueError, match="not a blob key"):
        store.stage(key)
    with pytest.raises(ValueError, match="not a blob key"):
        await store.delete([key])
    with pytest.raises(ValueError, match="not a blob key"):
        await read(store, key)


async def test_the_local_copy_is_gone_after_its_use(
    store: BlobStore, settings: Settings, application: UUID
) -> None:
    key = await put(store, application, b"abc")
    await read(store, key)
    with pytest.raises(BlobMissing):
        await read(store, new_key(application))
    downloads = settings.data_dir / "downloads"

    assert list(downloads.glob("*")) == []


async def test_a_check_of_a_good_store_passes_and_leaves_nothing(store: BlobStore) -> None:
    await store.check()

    assert await store.sweep_staged(older_than=NOW) == 0


async def test_memory_is_constant_when_writing_and_reading_a_large_blob(
    store: BlobStore, application: UUID
) -> None:
    part = os.urandom(64 * 1024)
    await put(store, application, *[part] * 160)  # warms up buffers and libraries
    before = peak_memory()
    blob = store.stage(new_key(application))
    for _ in range(64 * MIB // len(part)):
        await blob.write(part)
    await blob.finish()
    await store.commit([blob])
    async with store.open_local(blob.key) as path:
        size = path.stat().st_size
    grown = peak_memory() - before

    assert size == 64 * MIB
    assert grown < 32 * MIB


def peak_memory() -> int:
    """Peak resident bytes of this process."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


async def test_any_part_of_a_blob_can_be_read(store: BlobStore, application: UUID) -> None:
    content = b"".join(n.to_bytes(4) for n in range(3 * MIB // 4))
    blob = await stage(store, application, content)
    await store.commit([blob])

    async def read(start: int, end: int) -> bytes:
        return b"".join([block async for block in store.read(blob.key, start=start, end=end)])

    assert await read(0, len(content)) == content
    for start, end in ((0, 1), (5, 5), (len(content) - 1, len(content)), (MIB - 3, 2 * MIB + 7)):
        assert await read(start, end) == content[start:end]
    with pytest.raises(BlobMissing):
        await anext(store.read(new_key(application), start=0, end=1))
    with pytest.raises(ValueError, match="not a blob key"):
        await anext(store.read("../x", start=0, end=1))
